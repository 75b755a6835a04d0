"""Standard functions for flows: they read answers, say values and check digits, and do no I/O."""

from saywhy.helpers.amounts import amount_in_answer, is_amount_answer
from saywhy.helpers.capture import normalize_and_find_capture
from saywhy.helpers.catalogue import CATALOGUE, STANDARD_FUNCTIONS, Helper
from saywhy.helpers.choices import matches_choice, pick_choice
from saywhy.helpers.codes import (
    last4,
    validate_card_number,
    validate_digits,
    validate_expiration,
    validate_otp,
)
from saywhy.helpers.emails import mask_email, read_email, validate_email
from saywhy.helpers.identifiers import read_identifier
from saywhy.helpers.inputs import is_answer, match_inputs
from saywhy.helpers.moments import At, date_to_words
from saywhy.helpers.money import is_money_amount, read_money_amount
from saywhy.helpers.phones import (
    caller_is_international,
    caller_text_number,
    read_international_phone,
    read_phone,
    text_destination,
    validate_phone,
)
from saywhy.helpers.requests import is_agent_request, is_other_request
from saywhy.helpers.speech import amount_to_speech, text_with_url_to_speech, url_to_speech
from saywhy.helpers.spelling import is_spelled_fragment
from saywhy.helpers.wording import anything_else, goodbye

__all__ = [
    "CATALOGUE",
    "STANDARD_FUNCTIONS",
    "At",
    "Helper",
    "amount_in_answer",
    "amount_to_speech",
    "anything_else",
    "caller_is_international",
    "caller_text_number",
    "date_to_words",
    "goodbye",
    "is_agent_request",
    "is_amount_answer",
    "is_answer",
    "is_money_amount",
    "is_other_request",
    "is_spelled_fragment",
    "last4",
    "mask_email",
    "match_inputs",
    "matches_choice",
    "normalize_and_find_capture",
    "pick_choice",
    "read_email",
    "read_identifier",
    "read_international_phone",
    "read_money_amount",
    "read_phone",
    "text_destination",
    "text_with_url_to_speech",
    "url_to_speech",
    "validate_card_number",
    "validate_digits",
    "validate_email",
    "validate_expiration",
    "validate_otp",
    "validate_phone",
]
