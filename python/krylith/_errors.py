"""What krylith raises beside ValueError and TypeError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._info import Info


class InputError(ValueError):
    """A matrix, vector or file that can't be accepted."""


class DeviceError(RuntimeError):
    """A device or its runtime failed, or is missing."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A device has too little memory."""


class CommunicationError(RuntimeError):
    """A device did not answer another one in time."""


class NotConverged(RuntimeError):
    """A solve that did not converge, where `raise_on_failure` was asked for."""

    def __init__(self, x: Any, info: Info, of: str = "") -> None:
        super().__init__(of + (info.diagnosis or f"{info.solver} ended: {info.reason}"))
        self.x = x
        self.info = info
        self._of = of

    def __reduce__(self) -> Any:
        return NotConverged, (self.x, self.info, self._of)
