"""Compilation of helpers: as LLVM code that kernels link, without machine code of their own.

By default numba optimises every function that a kernel calls, generates machine code of it, and
then links and optimises its LLVM code again within the caller. A helper that is always inlined
needs only the last step. Without the others a kernel compiles about twice as fast, with the same
bits.
"""

from typing import Any

from dpbandits.core.errors import variables_of

with variables_of("numba", "NUMBA_"):
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler


class _NoEnvironments:
    """Stand for a code generator where numba sets the environment of finished machine code."""

    def set_env(self, name: str, environment: Any) -> None:
        """Set nothing: only functions that numba calls from Python have an environment."""


class LinkedCode(JITCodeLibrary):
    """Code of one helper, which is optimised only within the kernels that link it."""

    codegen = _NoEnvironments()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, as numba does for names without machine code."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
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
