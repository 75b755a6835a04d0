"""Promise: flows that run for real users are checked without a false alarm.

The files in `cases/real-flows` come from a public library under the licence beside them. Everything
the check says of them is listed here, and true.
"""

from __future__ import annotations

from pathlib import Path

from saywhy.flows.check import check_library
from saywhy.flows.load import load_files

FOLDER = Path(__file__).parent.parent / "cases/real-flows"
FILES = sorted(FOLDER.glob("*.json"))

FUNCTIONS = (
    "addToShopifyCart applyShopifyDiscount findNearestStoresWithStock getShopifyCart "
    "getShopifyOrderStatus getShopifyProductDetails lookupCustomerOrders matchesChoice "
    "normalizeAndFindCapture searchShopifyPolicies searchShopifyProducts sendEmailOTP sendSMSOTP "
    "sendTwilioSMS switchToSMS textWithUrlToSpeech validateEmail validateOTP validatePhone"
)


def findings(*files: Path, **names: object) -> list[tuple[str, str, str]]:
    problems = check_library(load_files(files), **names)  # type: ignore[arg-type]
    return [
        (f"{Path(p.place.file).name}:{p.place.line}:{p.place.column}", p.severity, p.message)
        for p in problems
    ]


def _same_id(spot: str, name: str) -> tuple[str, str, str]:
    return f"system.flows.json:{spot}", "note", f'two steps of this flow have the id "{name}"'


TRUE_FINDINGS = [
    # the answer to "anything else I can help with?" is not waited for
    (
        "shopify.flows.json:562:13",
        "note",
        "SAY does not wait for an answer, so `variable` is never set",
    ),
    (
        "shopify.flows.json:569:13",
        "note",
        "SAY does not wait for an answer, so `variable` is never set",
    ),
    # the order written beside the function is not the one in which it is called
    (
        "shopify.tools.json:144:15",
        "warning",
        "`args` of tool shopify-add-to-cart is not read: its function gets items, cartId",
    ),
    # two branches that do the same were written twice, ids and all
    _same_id("506:19", "treat_as_phone_number"),
    _same_id("512:19", "treat_as_email_address"),
    # asking for the code again calls instead of replacing, so the 19th wrong code is an error
    (
        "system.flows.json:664:7",
        "warning",
        "Circular flow reference detected: get-and-validate-otp-code → validate-otp-code → "
        "get-and-validate-otp-code; each round adds a frame, 20 are the limit",
    ),
    # the text "false" lets every six-digit answer pass as a code
    (
        "system.flows.json:922:18",
        "warning",
        'the variable "allow_otp_entry" is declared boolean, but its value is a text: '
        'the text "false" counts as true in conditions',
    ),
    # the number typed as an answer never reaches the flow it is passed to
    (
        "system.flows.json:999:33",
        "warning",
        "\"user_choice.replace(/[^0-9]/g, '')\" is no path, and only a path like a.b[0] may stand "
        "here; it gives an empty text",
    ),
    _same_id("1030:19", "provide_contact_info_default"),
]


def test_everything_handed_over() -> None:
    """With functions and globals named, only the true findings remain."""
    found = findings(*FILES, functions=FUNCTIONS.split(), globals=["global_store_locations"])
    assert found == TRUE_FINDINGS


def test_nothing_handed_over() -> None:
    """What nobody spoke of adds two notes and no error."""
    found = findings(*FILES)
    added = [one for one in found if one not in TRUE_FINDINGS]
    assert added == [
        (
            "shopify.flows.json:116:23",
            "note",
            "conditions ask whether these names exist, but no flow sets them: "
            "global_store_locations",
        ),
        (
            "system.flows.json:38:33",
            "note",
            f"the host must hand over the functions {', '.join(FUNCTIONS.split())}",
        ),
    ]


def test_files_checked_apart() -> None:
    """Only what stands in the other files is missed; no variable is called unknown."""
    shop, _, system, _ = FILES
    for path in (shop, system):
        errors = {message.partition('"')[0] for _, severity, message in findings(path)
                  if severity == "error"}  # fmt: skip
        assert errors <= {"no flow has the id or name ", "no tool has the id "}


def test_a_slip_in_a_real_flow_is_found(tmp_path: Path) -> None:
    """One letter in one condition, among a hundred that are right."""
    text = (FOLDER / "system.flows.json").read_text("utf-8")
    broken = text.replace('"condition: validateEmail(prospective_email)"',
                          '"condition: validateEmail(prospective_emial)"')  # fmt: skip
    assert broken != text
    path = tmp_path / "system.flows.json"
    path.write_text(broken, "utf-8")
    others = [file for file in FILES if file.name != path.name]
    found = findings(path, *others, functions=FUNCTIONS.split(), globals=["global_store_locations"])
    (error,) = [one for one in found if one[1] == "error"]
    assert error[2] == 'no variable named "prospective_emial" can be set by this point'
    line = broken.splitlines()[int(error[0].split(":")[1]) - 1]
    assert line[int(error[0].split(":")[2]) - 1 :].startswith("prospective_emial")
