"""Arrays in the memory of a GPU: of CuPy, PyTorch, JAX, Numba and whatever speaks their languages."""

from __future__ import annotations

from typing import Any

#: Address, length and type, such as ``"i4"``, of an array, and the object that keeps it alive.
Foreign = tuple[int, int, str, Any]

_TYPES = ("i4", "u4", "i8", "u8", "f4", "f8")


def is_on_device(array: Any) -> bool:
    """Whether an array is in the memory of a GPU."""
    if hasattr(array, "is_cuda"):  # PyTorch; its other tensors raise an error if asked for the interface
        return bool(array.is_cuda)
    return hasattr(array, "__cuda_array_interface__")


def foreign(array: Any, *, integers: bool) -> Foreign | None:
    """Where an array on a GPU is, converted there if it has to be; ``None`` if that is not possible without the host."""
    if hasattr(array, "detach"):
        array = array.detach()
    interface = array.__cuda_array_interface__
    if interface["data"][0] % max(1, int(interface["typestr"][2:])):
        return None  # An array that lies across its elements: no kernel may read it, not even to copy it.
    found = _described(array)
    if found is None or found[2] not in _TYPES:
        array = _converted(array, integers)
        found = None if array is None else _described(array)
    return found


def _described(array: Any) -> Foreign | None:
    """An array of one dimension without gaps."""
    interface = array.__cuda_array_interface__
    (length,) = interface["shape"] if len(interface["shape"]) == 1 else (None,)
    if length is None or interface["typestr"][:1] == ">":
        return None
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    strides = interface.get("strides")
    if strides is not None and length > 1 and tuple(strides) != (size,):
        return None
    return (int(interface["data"][0]), int(length), f"{kind}{size}", array)


def _converted(array: Any, integers: bool) -> Any:
    """The same numbers of a type, and in an order, that are taken; ``None`` if the package can't do that on the device."""
    kind = array.__cuda_array_interface__["typestr"][1:]
    is_taken = kind in _TYPES
    if array.ndim != 1 or (integers and kind[0] not in "iu"):
        return None
    if hasattr(array, "is_floating_point"):  # PyTorch
        if array.is_complex():
            return None
        array = array.contiguous()
        return array if is_taken else array.float() if array.is_floating_point() else array.int()
    if hasattr(array, "astype") and hasattr(array, "copy") and kind[0] in "biuf":  # CuPy and JAX
        return array.copy() if is_taken else array.astype("float32" if kind[0] == "f" else "int32")
    return None
