"""Compilation of helpers: as LLVM code that kernels link, without machine code of their own.

By default numba optimises every function that a kernel calls, generates machine code of it, and
then links and optimises its LLVM code again within the caller. A helper that is always inlined
needs only the last step. Without the others a kernel compiles in 50 to 80 % of the time, with the
same bits.

A helper that prints is the exception: it reads its environment, which has its place in the machine
code.
"""

from typing import Any

from dpbandits.core.errors import variables_of

with variables_of("numba", "NUMBA_"):
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

ENVIRONMENT = "_ZN08NumbaEnv"  # begins the name of the variable that holds an environment


class _NoEnvironments:
    """Stand for a code generator where numba sets the environment of finished machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Set nothing: the helper does not read it."""


class LinkedCode(JITCodeLibrary):
    """Code of one helper, which is optimised only within the kernels that link it."""

    _reads_environment = False

    def add_llvm_module(self, module: Any) -> None:
        """Add the helper's own code; numba calls this before the code that it links."""
        # One occurrence is the definition.
        self._reads_environment |= str(module).count(ENVIRONMENT) > 1
        super().add_llvm_module(module)

    @property
    def codegen(self) -> Any:
        """Code generator, on which numba sets the environment."""
        return super().codegen if self._reads_environment else _NoEnvironments()

    def _optimize_final_module(self) -> None:
        pass  # kernels optimise what they link

    def _finalize_final_module(self) -> None:
        if self._reads_environment:
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class LinkedOnly(Compiler):
    """Numba's compiler, for functions that only kernels call, and always inline."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, after a choice of the library that they fill."""
        state = self.state
        state.library = LinkedCode(state.targetctx.codegen(), state.func_id.func_qualname)
        passes: list[Any] = super().define_pipelines()
        return passes
