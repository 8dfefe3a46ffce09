"""Which runtimes the contract was run over here."""

from __future__ import annotations

import pytest

from tests.contract.conftest import KNOWN, missing
from ubviz import get_runtime
from ubviz.errors import BadArgument


@pytest.mark.parametrize("name", KNOWN)
def test_the_contract_was_run_over(name):
    if (reason := missing(name)) is not None:
        pytest.skip(f"the contract was not run over {name}: {reason}")
    rt = get_runtime(name)
    assert rt.name == name
    rt.close()


def test_a_runtime_that_is_not_there_is_refused():
    with pytest.raises(BadArgument, match=r"^there is no runtime 'tpu'; this version has auto, host"):
        get_runtime("tpu")
    with pytest.raises(BadArgument, match=r"^runtime 'host' takes no option 'speed'$"):
        get_runtime("host", speed=2)
