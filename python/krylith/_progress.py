"""What `verbose` shows of a solve while it runs."""

from __future__ import annotations

from typing import Any, Callable

from ._info import Info


class Shown:
    """A "progress" callback that prints lines, or moves a bar of tqdm's, and calls the user's own."""

    def __init__(self, how: bool | str, callback: Callable[..., object] | None, kind: str) -> None:
        if how not in (True, "tqdm"):
            raise ValueError(f"verbose is {how!r}: allowed are True, False and 'tqdm'")
        if callback is not None and kind != "progress":
            raise ValueError("with verbose a callback gets numbers: give it callback_type='progress'")
        self.callback = callback
        self._bar: Any = None
        if how == "tqdm":
            from tqdm.auto import tqdm

            self._bar = tqdm(unit=" iterations")

    def __call__(self, iteration: int, residual: float, target: float, rhs_norm: float) -> None:
        text = f"||r|| / ||b|| = {residual / (rhs_norm or 1.0):.3e}"
        if self._bar is not None:
            self._bar.set_postfix_str(text, refresh=False)
            self._bar.update(iteration - self._bar.n)
        elif iteration % 10 ** (len(str(iteration)) - 1) == 0:  # 1 to 9, then 10 to 90, then 100 to 900
            print(f"{iteration:8}  {text}", flush=True)
        if self.callback is not None:
            self.callback(iteration, residual, target, rhs_norm)

    def end(self, info: Info) -> None:
        if self._bar is not None:
            self._bar.close()
            return
        for column in info.columns or (info,):
            print(f"{column.iterations:8}  ||b - A x|| / ||b|| = {column.relative_residual:.3e}, "
                  f"{column.solver}, {column.preconditioner}: {column.reason}", flush=True)
