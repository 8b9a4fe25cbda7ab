"""diffprivlib: are its floats porous? Is noise shared by forks, or set by a seed?"""

from collections.abc import Iterator

from peer import Row, diffprivlib, one_by_one

from dpcurator.auditing import probes


def rows() -> Iterator[Row]:
    made = diffprivlib().mechanisms
    noises = {
        "Laplace": made.Laplace(epsilon=1, sensitivity=1),
        "Gaussian": made.Gaussian(epsilon=1, delta=1e-3, sensitivity=1),
        "GaussianAnalytic": made.GaussianAnalytic(epsilon=1, delta=1e-3, sensitivity=1),
        "LaplaceBoundedDomain": made.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=-8, upper=8),
        "Staircase": made.Staircase(epsilon=1, sensitivity=1),
        "Uniform": made.Uniform(delta=0.1, sensitivity=1),
        "Snapping": made.Snapping(epsilon=1, sensitivity=1, lower=-100, upper=100),
    }
    for name, noise in noises.items():
        yield f"mechanisms.{name}", probes.porous(one_by_one(noise.randomise))
    laplace = noises["Laplace"]
    yield "mechanisms.Laplace", probes.forked(lambda: laplace.randomise(0))
    yield "mechanisms.Laplace", probes.seeded(lambda: laplace.randomise(0))
