import pickle

from otherhalf.cluster.shared import Parts, Shared, boxes_of, without_boxes

A, B, C = (Shared((name, "hash"), [f"reference {name}"]) for name in "abc")


def test_boxes_go_beside_the_arguments_in_order():
    arguments = (1, B, Parts((A, C)), [2], B)
    assert boxes_of(arguments) == [["reference b"], ["reference a"], ["reference c"], ["reference b"]]
    sent = pickle.dumps(without_boxes(arguments))
    assert b"reference" not in sent
    empty_b = Shared(B.key, [])
    assert pickle.loads(sent) == (1, empty_b, Parts((Shared(A.key, []), Shared(C.key, []))), [2], empty_b)
