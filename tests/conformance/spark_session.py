"""One Spark session for all tests that need one. It is started when the first of them asks for it."""

from __future__ import annotations

import os
import tempfile
import warnings
from typing import Any

import pytest

from deniable.engines.spark import local_session
from deniable.errors import EngineError

QUIET = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    for kind in (
        "FutureWarning",
        "DeprecationWarning",
        "ResourceWarning",
        "pytest.PytestUnraisableExceptionWarning",
    )
]
"""PySpark warns of versions of pandas, and leaves sockets to the collector."""


@pytest.fixture(name="spark", scope="session")
def started() -> Any:
    """A session of this machine alone; a task that fails is tried four times. Skips without Java.

    It ends with this process. Small tables gain nothing from compiled plans, which take seconds each.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            session = local_session(
                cores=2,
                memory="1g",
                spark_sql_shuffle_partitions="2",
                spark_sql_adaptive_enabled="false",
                spark_sql_codegen_wholeStage="false",
                spark_sql_codegen_factoryMode="NO_CODEGEN",
                spark_driver_extraJavaOptions="-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
                spark_sql_warehouse_dir=tempfile.gettempdir() + "/deniable-warehouse",
            )
        except EngineError as error:
            if "spark" in os.environ.get("DENIABLE_REQUIRE", ""):
                pytest.fail(str(error))
            pytest.skip(str(error))
    session.sparkContext.setLogLevel("OFF")
    return session
