"""Means of vectors: `dn.local.Vector`."""

from deniable.local.vector.vector import Vector as Vector
from deniable.local.vector.vector import VectorError as VectorError
