"""What the flow of returns needs from a program. Here nothing leaves the machine."""

ORDERS = {
    "17": {"item": "lamp", "ordered": 18, "delivered": 9},
    "21": {"item": "chair", "ordered": 3, "delivered": 3},
}
"""The item, and how many days ago it was ordered and delivered."""


def find_order(arguments):
    return ORDERS[arguments["number"]]


FUNCTIONS = {"find_order": find_order}
