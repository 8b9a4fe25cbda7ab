"""An independent witness: point it at anything that claims a guarantee, and get a counterexample or an honest shrug.

    dp.audit(mechanism, claim=dp.Pure(1), neighbours="add-remove", domain=(0, 100))   -> a Report

It says "violation found (certain)", "violation found" or "no violation found", and never "private": not finding is no
proof. It imports neither accounting nor pricing, so what they get wrong it does not repeat. One concept a file:

    claims    what is promised, and when the probabilities of an event contradict it
    pairs     neighbouring inputs that have caught mistakes before
    copies    defensive copies of inputs and outcomes         equality  when two outcomes are one
    exact/    output distributions known exactly, and their divergences
    draws/    outcomes drawn: features, a search for the event, Clopper-Pearson limits
    replay/   the same run on a neighbour with every mechanism's output frozen
    probes/   what has broken real systems
    shrink    a small witness                                 report    what was found, in words
    run       `audit` itself

The package is not called `audit`: importing a submodule puts it under its own name in the parent, where `dp.audit` is.
"""
