"""The study of DCT, a mean mechanism of 2022 whose promise does not hold: `deniable study dct`.

Zhu, Wang, Sun: "A Perturbation Mechanism for Classified Transformation Satisfying Local Differential
Privacy", Journal of Computer Research and Development, 2022, doi 10.7544/issn1000-1239.20200717.

The displayed formulas (5) to (14) and the figures are missing from the copy that was at hand: what is studied
is a reconstruction from its text, with every plausible choice of the lost parameters (`parametrisations`).
"""
