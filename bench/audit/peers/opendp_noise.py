"""opendp: are its floats porous? Is noise shared by forks, or set by a seed?"""

from collections.abc import Iterator

import opendp.prelude as odp
from peer import Row

from dpcurator.auditing import probes


def rows() -> Iterator[Row]:
    odp.enable_features("contrib")
    floats = odp.vector_domain(odp.atom_domain(T=float, nan=False))
    laplace = odp.m.make_laplace(floats, odp.l1_distance(T=float), scale=1.0)
    gaussian = odp.m.make_gaussian(floats, odp.l2_distance(T=float), scale=3.0)
    yield "make_laplace, floats", probes.porous(lambda value, size: laplace([value] * size))
    yield "make_gaussian, floats", probes.porous(lambda value, size: gaussian([value] * size))
    yield "make_laplace", probes.forked(lambda: laplace([0.0] * 9))
    yield "make_laplace", probes.seeded(lambda: laplace([0.0] * 9))
