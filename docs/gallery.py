"""Audit functions of other packages, each in an environment of its own, and write docs/audit-gallery.md.

    python -m docs.gallery [NAME ...] [--environments FOLDER]

Every subject names its package with the version, makes its function in one or two lines, and says what is
claimed and by which words of the package. An environment that cannot be made is reported with the reason.
Environments are kept in FOLDER (a temporary one when omitted).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import environments

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CONFIDENCE = "0.999999"
HEAD = f"""# Audit gallery

Written by `python -m docs.gallery`. Each subject is audited in an environment of its own, with the package in
the version that is named. Verdicts by sampling hold with confidence {CONFIDENCE} each; "no violation" says
that these runs did not refute the claim, no more. The two inputs are neighbours by the claim.
"""
FOOT = "Back to the [README](../README.md).\n"


@dataclass(frozen=True)
class Subject:
    """One audit. code: makes `run`, `first` and `second`, and may make `laws` (then probabilities are
    decided).

    package: what pip installs, the audited one first; "" for Python alone. claim: epsilon and delta as text.
    source: where the claim is from.
    """

    name: str
    package: str
    what: str
    claim: tuple[str, str]
    source: str
    code: str
    trials: int = 20_000
    batch: int | None = None
    exact: bool = False


SUBJECTS = (
    Subject(
        "subset-selection",
        "multi-freq-ldpy==0.2.5",
        "`SS_Client(item, k=10, epsilon=1)`: the items of a report, in their order",
        ("1", "0"),
        'its parameter `epsilon`, "privacy guarantee"',
        "from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client\n"
        "run, first, second = lambda item: SS_Client(item, 10, 1.0), 0, 1",
    ),
    Subject(
        "subset-selection-sets",
        "multi-freq-ldpy==0.2.5",
        "the same reports as sets: their order is not looked at",
        ("1", "0"),
        'its parameter `epsilon`, "privacy guarantee"',
        "from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client\n"
        "run, first, second = lambda item: set(SS_Client(item, 10, 1.0).tolist()), 0, 1",
    ),
    Subject(
        "rappor",
        "pure-ldp==1.2.0 scikit-learn==1.5.2 statsmodels==0.14.6",
        "`RAPPORClient(f=0.5, m=8, ...).privatise(item)` with one hash function: the bits of a report",
        ("2.1972245773362196", "0"),
        "its `convert_f_to_eps(0.5, 1)`",
        "from pure_ldp.frequency_oracles.rappor import RAPPORClient\n"
        "hashed = [[lambda item: int(item) % 8]]\n"
        "client = RAPPORClient(0.5, 8, hashed, num_of_cohorts=1, index_mapper=lambda item: item)\n"
        "run, first, second = lambda item: client.privatise(item)[0], 0, 1",
    ),
    Subject(
        "unary-encoding",
        "multi-freq-ldpy==0.2.5",
        "`UE_Client(item, k=8, epsilon=1)`: the bits of a report",
        ("1", "0"),
        'its parameter `epsilon`, "privacy guarantee"',
        "from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client\n"
        "run, first, second = lambda item: UE_Client(item, 8, 1.0), 0, 1",
    ),
    Subject(
        "float-laplace",
        "numpy==2.4.4",
        "`value + Generator.laplace(scale=1)`: noise added in doubles",
        ("1", "0"),
        "the law of Laplace noise of scale 1 on a value that moves by 1",
        "import numpy\n"
        "dice = numpy.random.default_rng()\n"
        "run, first, second = lambda value, n: value + dice.laplace(size=n), 0.0, 1.0",
        100_000,
        100_000,
    ),
    Subject(
        "diffprivlib-laplace",
        "diffprivlib==0.6.6 scikit-learn==1.5.2",
        "`mechanisms.Laplace(epsilon=1, sensitivity=1).randomise(value)`",
        ("1", "0"),
        "its parameter `epsilon`",
        "from diffprivlib.mechanisms import Laplace\n"
        "run, first, second = Laplace(epsilon=1, sensitivity=1).randomise, 0.0, 1.0",
        100_000,
    ),
    Subject(
        "opendp-laplace",
        "opendp==0.16.0",
        "`make_laplace(atom_domain(T=float, nan=False), absolute_distance(T=float), scale=1.0)`",
        ("1", "0"),
        "its privacy map at distance 1",
        "import opendp.prelude as dp\n"
        "dp.enable_features('contrib')\n"
        "space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)\n"
        "run, first, second = dp.m.make_laplace(*space, scale=1.0), 0.0, 1.0",
    ),
    Subject(
        "wrong-rule",
        "",
        "a group of one, published if its count plus discrete Laplace noise of scale 1 is at least 5",
        ("1", "0.0049258"),
        "0.0049258 is the chance that it is above 5; at least 5 has the chance 0.0133898",
        "from deniable.audit.specimens import wrong_rule as run\nfirst, second = 0, 1",
        50_000,
        50_000,
    ),
    Subject(
        "one-way",
        "",
        "three bits, a 1 always reported as 1, a 0 as 1 by chance 1/4",
        ("ln 3", "0"),
        "the odds of a 0",
        "from deniable.audit.specimens import one_way as run\nfirst, second = 0, 1",
        exact=True,
    ),
    Subject(
        "published",
        "",
        "all data by chance 1/100, else nothing",
        ("0", "0.01"),
        "the definition of (0, delta): a delta is a chance that everything is published",
        "from deniable.audit.specimens import published as run\nfirst, second = ('ann', 'bob'), ('bob',)",
        exact=True,
    ),
)

PROGRAM = """
import json, sys, warnings
warnings.simplefilter("ignore")
facts = json.loads(sys.argv[1])
from deniable import audit
made = {}
exec(facts["code"], made)
claim = {"epsilon": facts["claim"][0], "delta": facts["claim"][1]}
if facts["exact"]:
    found = audit.exact(made["run"], [made["first"], made["second"]], **claim)
else:
    options = {name: facts[name] for name in ("trials", "batch", "confidence")}
    found = audit.sampled(made["run"], made["first"], made["second"], **options, **claim)
from deniable.audit.subjects import runs
print(json.dumps({"word": found.word, "words": str(found), "runs": runs(found)}))
"""


def audited(subject: Subject, folder: Path) -> str:
    """Return the section of one subject."""
    name = subject.package.replace("==", "-").replace(" ", "-with-") or "alone"
    try:
        python = environments.environment(name, (str(ROOT), *subject.package.split()), folder=folder)
    except environments.NotInstalledError as problem:
        return section(subject, f"Skipped: {problem}", "")
    facts = {
        "code": subject.code,
        "claim": subject.claim,
        "exact": subject.exact,
        "trials": subject.trials,
        "batch": subject.batch,
        "confidence": CONFIDENCE,
    }
    done = subprocess.run(
        [str(python), "-c", PROGRAM, json.dumps(facts)], capture_output=True, text=True, cwd=folder
    )
    if done.returncode:
        return section(subject, f"Skipped: {environments.last_line(done.stderr)}", "")
    found = json.loads(done.stdout.splitlines()[-1])
    return section(
        subject, found["words"], f"{found['runs']:,} runs of each input" if found["runs"] else "decided"
    )


def section(subject: Subject, words: str, runs: str) -> str:
    """Return what the page says of one subject."""
    epsilon, delta = subject.claim
    claim = f"epsilon {epsilon}" + (f", delta {delta}" if delta != "0" else "")
    package = f"{subject.package.split()[0].replace('==', ' ')}: " if subject.package else ""
    lines = [
        f"## {subject.name}",
        "",
        f"{package}{subject.what}.",
        "",
        f"Claim: {claim} ({subject.source}).",
        "",
        f"> {words}",
        "",
        f"{runs[:1].upper()}{runs[1:]}. `python -m docs.gallery {subject.name}`" if runs else "",
        "",
        "```text",
        subject.code,
        "```",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Audit what is named, or all; write the page only if all were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*")
    parser.add_argument("--environments", type=Path)
    given = parser.parse_args()
    chosen = [subject for subject in SUBJECTS if not given.names or subject.name in given.names]
    with tempfile.TemporaryDirectory(prefix="gallery-") as temporary:
        folder = (given.environments or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        sections = []
        for subject in chosen:
            sections.append(audited(subject, folder))
            print(sections[-1], flush=True)
    if not given.names:
        (HERE / "audit-gallery.md").write_text(HEAD + "\n" + "\n".join([*sections, FOOT]), "utf-8")


if __name__ == "__main__":
    main()
