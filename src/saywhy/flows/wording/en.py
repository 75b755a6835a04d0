"""English: the library's own sentences, and the words that are commands."""

from __future__ import annotations

from typing import Final

from saywhy.flows.wording.words import Words

SENTENCES: Final[dict[str, str]] = {
    "flow_init": "Processing {{flowPrompt}}",
    "flow_interrupted": "Switched to {{targetFlow}}\n\n"
    '(Your previous "{{currentFlow}}" progress has been saved)',
    "flow_switch_offer": 'You are in the middle of "{{currentFlow}}". Say "switch" to go '
    'to "{{targetFlow}}", or "continue" to go on here.',
    "flow_choice": 'Do you mean "{{first}}" or "{{second}}"?',
    "flow_resumed": "Resuming {{flowName}}",
    "flow_resumed_with_guidance": "Resuming {{flowName}} - Type 'cancel flow' or 'help' "
    "for options.",
    "flow_completed": "Completed {{flowName}}.",
    "flow_completed_generic": "Flow completed.",
    "flow_cancelled": "{{flowName}} was cancelled.",
    "flow_of_agent": "your request",
    "flow_help_general": "Processing {{flowPrompt}} - You can also 'cancel flow' or "
    "request 'help'.",
    "flow_help_payment": "Processing {{flowPrompt}} - You can also 'cancel flow' or "
    "request 'help'.",
    "critical_error": "Something went wrong. Please try again.",
    "invalid_input": "Please provide the correct information:",
    "pattern_mismatch": "Field {{field}} does not match required pattern",
    "not_valid": "not valid",
    "system_ready": "Ready.",
    "no_flows_available": "There is nothing I can start right now.",
    "flow_execution_error": "{{flowName}} could not go on: {{errorMessage}}",
    "switch_no_branch_found": 'No branch fits the value "{{value}}" of {{variable}}.',
    "tool_failed": "{{toolName}} did not work: {{errorMessage}}",
    "tool_unknown": "I asked for {{toolName}}, but it is not known yet whether it "
    "happened. Somebody is looking at it; please do not ask for it again meanwhile.",
    "still_unknown": "It is not known yet whether {{toolName}} happened. Somebody is "
    "looking at it.",
    "approval_waiting": "{{toolName}} has to be approved first. I am waiting for that.",
    "correction_undo": "{{toolName}} was already done with the earlier answer. "
    "Shall I undo it and do it again?",
    "correction_declined": "All right, everything stays as it was.",
    "correction_not_undone": "So nothing was changed.",
    "correction_over": "That can no longer be changed here.",
    "correction_final": "That can no longer be changed.",
    "correction_kept": "{{toolName}} was already done and stays as it is.",
    "subflow_not_found": 'Sub-flow "{{subFlowName}}" not found.',
    "flow_switch_error": 'Could not switch to "{{targetFlow}}".',
    "flow_not_found": 'Could not start "{{targetFlow}}" - flow not found.',
    "flow_switch_general_error": "Could not switch to another flow.",
    "cmd_flow_exited": "Successfully exited {{flowName}}. How can I help you with something else?",
    "cmd_help_title": "Flow Help - {{flowName}}",
    "cmd_help_commands": "Available commands while in this flow:",
    "cmd_help_cancel": '• "cancel flow" - Exit this flow completely',
    "cmd_help_status": '• "status" - Show current flow information',
    "cmd_help_help": '• "help" - Show this help message',
    "cmd_help_switch": '• "switch" - Go to {{targetFlow}}',
    "cmd_help_continue": '• "continue" - Go on with {{currentFlow}}',
    "cmd_help_financial": "This is about money: please check each value before you confirm.",
    "cmd_help_question": "Current Question:",
    "cmd_help_instruction": "Please respond to the question above, or use a command listed above.",
    "cmd_status_title": "📊 **Flow Status**",
    "cmd_status_flow": "Flow: {{flowName}}",
    "cmd_status_steps": "Steps remaining: {{count}}",
    "cmd_status_depth": "Stack depth: {{count}}",
    "cmd_status_transaction": "Transaction: {{id}}",
    "cmd_status_collected": "Collected Information",
    "cmd_interruption_switch": "Switching to {{targetFlow}}.\n\n"
    '(Your progress in "{{currentFlow}}" is kept)',
    "cmd_interruption_continue": "Going on with {{currentFlow}}.",
    "form_unreadable": "I did not understand that.",
    "form_tie": "Is {{words}} the {{choices}}?",
    "form_or": " or the ",
    "form_so_far": "So far: {{filled}}.",
    "form_declined": "All right, I have not done it.",
    "form_currency": "Only {{currency}} can be used here, and {{amount}} is not converted.",
}

WORDS: Final = Words(
    {
        "cancel": (
            "cancel",
            "cancel flow",
            "cancel workflow",
            "abort flow",
            "stop flow",
            "exit flow",
            "quit flow",
            "end flow",
        ),
        "help": (
            "help",
            "?",
            "options",
            "commands",
        ),
        "status": (
            "status",
            "where am i",
            "what flow",
            "current flow",
            "info",
        ),
        "switch": (
            "switch",
            "change",
            "go to",
        ),
        "continue": (
            "continue",
            "proceed",
            "keep going",
            "go on",
        ),
    },
    (
        "flow",
        "workflow",
    ),
    noun_may_lead=False,
)

PLACES: Final = (
    frozenset(
        {"first", "the first", "first one", "the first one", "one", "number one", "the former"}
    ),
    frozenset(
        {"second", "the second", "second one", "the second one", "two", "number two", "the latter"}
    ),
)
"""What picks the first and the second of two, without accents and capitals."""
