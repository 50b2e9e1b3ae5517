"""How many people have each of many items: `dn.local.Frequency`.

| module     | what is in it                                                                        |
|------------|--------------------------------------------------------------------------------------|
| shares     | `Frequency`: both ends, errors, estimates                                            |
| domain     | the declared items, and what counts as one                                           |
| choice     | which protocol "auto" takes                                                          |
| odds       | e**epsilon as an integer threshold; exact coins and uniform numbers                   |
| randomizer | what protocols share: supports, the unbiased estimate and its variance               |
| response, unary, hashing, hadamard, subset, projective: a protocol each, with its proof           |
| fields, spaces, planes, sizes: finite geometry for the last four                                  |
| intervals  | from supports to intervals                                                           |
"""

from deniable.local.frequency.shares import Frequency as Frequency
from deniable.local.frequency.shares import FrequencyError as FrequencyError
