import pickle

from otherhalf.cluster.shared import Shared


def test_a_shared_value_is_its_key_and_a_reference():
    one = Shared(("data", "hash"), ["reference"])
    assert pickle.loads(pickle.dumps(one)) == one
    assert hash(one.key) == hash(("data", "hash"))
