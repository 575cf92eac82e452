"""Interrupts that OmegaConf turned into errors of its own."""


def reraise_interrupt(error: BaseException) -> None:
    """Raise KeyboardInterrupt if the error arose while an interrupt was being handled.

    OmegaConf restores its flags after an interrupt, and may fail at that: it then raises an error
    in place of the interrupt.
    """
    before = error.__context__
    while before is not None:
        if isinstance(before, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        before = before.__context__
