"""One thread of BLAS for masters of a few hundred unknowns.

Their products and factors are so small that threads wait longer for each other than they work, and the last
digits of a product depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import scipy.linalg  # noqa: F401  the controller sees the libraries that are loaded when it is made
from threadpoolctl import ThreadpoolController

_libraries = ThreadpoolController().select(user_api="blas").lib_controllers


def one_thread(function: Callable) -> Callable:
    """Decorate a function: BLAS has one thread while it runs."""

    @wraps(function)
    def limited(*args, **options):
        several = [(library, n) for library in _libraries if (n := library.get_num_threads()) != 1]
        for library, _ in several:
            library.set_num_threads(1)
        try:
            return function(*args, **options)
        finally:
            for library, n in several:
                library.set_num_threads(n)

    return limited
