"""German: the library's own sentences, and the words that are commands."""

from __future__ import annotations

from typing import Final

from saywhy.flows.wording.words import Words

SENTENCES: Final[dict[str, str]] = {
    "flow_init": "{{flowPrompt}} wird bearbeitet",
    "flow_interrupted": "Gewechselt zu {{targetFlow}}\n\n"
    "(Ihr Stand bei „{{currentFlow}}“ ist gespeichert)",
    "flow_switch_offer": "Sie sind mitten in „{{currentFlow}}“. Sagen Sie „wechseln“, um "
    "zu „{{targetFlow}}“ zu gehen, oder „weiter“, um hier fortzufahren.",
    "flow_choice": "Meinen Sie „{{first}}“ oder „{{second}}“?",
    "flow_resumed": "Weiter mit {{flowName}}",
    "flow_resumed_with_guidance": "Weiter mit {{flowName}} - Mit „Vorgang abbrechen“ "
    "oder „Hilfe“ sehen Sie, was möglich ist.",
    "flow_completed": "{{flowName}} ist abgeschlossen.",
    "flow_completed_generic": "Der Vorgang ist abgeschlossen.",
    "flow_cancelled": "{{flowName}} wurde abgebrochen.",
    "flow_of_agent": "Ihre Anfrage",
    "flow_help_general": "{{flowPrompt}} wird bearbeitet - Sie können auch „Vorgang "
    "abbrechen“ sagen oder um „Hilfe“ bitten.",
    "flow_help_payment": "{{flowPrompt}} wird bearbeitet - Sie können auch „Vorgang "
    "abbrechen“ sagen oder um „Hilfe“ bitten.",
    "critical_error": "Da ist etwas schiefgegangen. Bitte versuchen Sie es noch einmal.",
    "invalid_input": "Bitte machen Sie die richtige Angabe:",
    "pattern_mismatch": "Die Angabe {{field}} hat nicht das verlangte Format",
    "not_valid": "nicht gültig",
    "system_ready": "Bereit.",
    "no_flows_available": "Zurzeit kann ich nichts starten.",
    "flow_execution_error": "{{flowName}} konnte nicht weitergehen: {{errorMessage}}",
    "switch_no_branch_found": "Kein Zweig passt zum Wert „{{value}}“ von {{variable}}.",
    "tool_failed": "{{toolName}} hat nicht geklappt: {{errorMessage}}",
    "tool_unknown": "Ich habe {{toolName}} veranlasst, aber es ist noch nicht bekannt, "
    "ob es geschehen ist. Jemand sieht nach; bitte verlangen Sie es inzwischen nicht "
    "noch einmal.",
    "still_unknown": "Es ist noch nicht bekannt, ob {{toolName}} geschehen ist. Jemand sieht nach.",
    "approval_waiting": "{{toolName}} muss erst genehmigt werden. Ich warte darauf.",
    "correction_undo": "{{toolName}} wurde mit der früheren Antwort schon erledigt. "
    "Soll ich es rückgängig machen und neu ausführen?",
    "correction_declined": "Gut, alles bleibt, wie es war.",
    "correction_not_undone": "Darum wurde nichts geändert.",
    "correction_over": "Das lässt sich hier nicht mehr ändern.",
    "correction_final": "Das lässt sich nicht mehr ändern.",
    "correction_kept": "{{toolName}} wurde schon erledigt und bleibt, wie es ist.",
    "subflow_not_found": "Teilvorgang „{{subFlowName}}“ nicht gefunden.",
    "flow_switch_error": "Der Wechsel zu „{{targetFlow}}“ war nicht möglich.",
    "flow_not_found": "„{{targetFlow}}“ konnte nicht gestartet werden - Vorgang nicht gefunden.",
    "flow_switch_general_error": "Der Wechsel zu einem anderen Vorgang war nicht möglich.",
    "cmd_flow_exited": "Sie haben {{flowName}} verlassen. Womit kann ich Ihnen sonst helfen?",
    "cmd_help_title": "Hilfe - {{flowName}}",
    "cmd_help_commands": "Das können Sie in diesem Vorgang sagen:",
    "cmd_help_cancel": "• „Vorgang abbrechen“ - Diesen Vorgang ganz verlassen",
    "cmd_help_status": "• „Status“ - Zeigen, wie weit der Vorgang ist",
    "cmd_help_help": "• „Hilfe“ - Diese Hilfe zeigen",
    "cmd_help_switch": "• „wechseln“ - Zu {{targetFlow}} gehen",
    "cmd_help_continue": "• „weiter“ - Mit {{currentFlow}} fortfahren",
    "cmd_help_financial": "Es geht um Geld: Bitte prüfen Sie jede Angabe, bevor Sie bestätigen.",
    "cmd_help_question": "Aktuelle Frage:",
    "cmd_help_instruction": "Bitte beantworten Sie die Frage oben, oder sagen Sie etwas "
    "aus der Liste.",
    "cmd_status_title": "📊 **Stand des Vorgangs**",
    "cmd_status_flow": "Vorgang: {{flowName}}",
    "cmd_status_steps": "Verbleibende Schritte: {{count}}",
    "cmd_status_depth": "Tiefe: {{count}}",
    "cmd_status_transaction": "Transaktion: {{id}}",
    "cmd_status_collected": "Bisherige Angaben",
    "cmd_interruption_switch": "Wechsel zu {{targetFlow}}.\n\n"
    "(Ihr Stand bei „{{currentFlow}}“ bleibt erhalten)",
    "cmd_interruption_continue": "Weiter mit {{currentFlow}}.",
    "form_unreadable": "Das habe ich nicht verstanden.",
    "form_tie": "Was ist {{words}}: {{choices}}?",
    "form_or": " oder ",
    "form_so_far": "Bisher: {{filled}}.",
    "form_declined": "Gut, ich habe es nicht getan.",
    "form_currency": "Hier geht nur {{currency}}, und {{amount}} wird nicht umgerechnet.",
}

WORDS: Final = Words(
    {
        "cancel": (
            "abbrechen",
            "vorgang abbrechen",
            "ablauf abbrechen",
            "vorgang beenden",
            "vorgang stoppen",
            "vorgang verlassen",
        ),
        "help": (
            "hilfe",
            "?",
            "optionen",
            "befehle",
        ),
        "status": (
            "status",
            "wo bin ich",
            "welcher vorgang",
            "aktueller vorgang",
            "info",
        ),
        "switch": (
            "wechseln",
            "gehe zu",
        ),
        "continue": (
            "weiter",
            "weitermachen",
            "fortfahren",
            "fortsetzen",
        ),
    },
    (
        "vorgang",
        "ablauf",
        "den vorgang",
        "flow",
        "workflow",
    ),
)

PLACES: Final = (
    frozenset(
        {
            "erste",
            "erster",
            "erstes",
            "ersten",
            "das erste",
            "die erste",
            "der erste",
            "den ersten",
            "eins",
            "nummer eins",
        }
    ),
    frozenset(
        {
            "zweite",
            "zweiter",
            "zweites",
            "zweiten",
            "das zweite",
            "die zweite",
            "der zweite",
            "den zweiten",
            "zwei",
            "zwo",
            "nummer zwei",
        }
    ),
)
"""What picks the first and the second of two, without accents and capitals."""
