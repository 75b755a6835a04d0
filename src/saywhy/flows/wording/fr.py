"""French: the library's own sentences, and the words that are commands."""

from __future__ import annotations

from typing import Final

from saywhy.flows.wording.words import Words

SENTENCES: Final[dict[str, str]] = {
    "flow_init": "{{flowPrompt}} : c'est en cours",
    "flow_interrupted": "Passage à {{targetFlow}}\n\n"
    "(Votre progression dans « {{currentFlow}} » a été enregistrée)",
    "flow_switch_offer": "Vous êtes au milieu de « {{currentFlow}} ». Dites « changer » "
    "pour aller à « {{targetFlow}} », ou « continuer » pour poursuivre ici.",
    "flow_choice": "Voulez-vous dire « {{first}} » ou « {{second}} » ?",
    "flow_resumed": "Reprise de {{flowName}}",
    "flow_resumed_with_guidance": "Reprise de {{flowName}} - Tapez « annuler la démarche "
    "» ou « aide » pour voir les options.",
    "flow_completed": "{{flowName}} : terminé.",
    "flow_completed_generic": "La démarche est terminée.",
    "flow_cancelled": "{{flowName}} : annulé.",
    "flow_of_agent": "votre demande",
    "flow_help_general": "{{flowPrompt}} : c'est en cours - Vous pouvez aussi dire « "
    "annuler la démarche » ou demander « aide ».",
    "flow_help_payment": "{{flowPrompt}} : c'est en cours - Vous pouvez aussi dire « "
    "annuler la démarche » ou demander « aide ».",
    "critical_error": "Un problème est survenu. Veuillez réessayer.",
    "invalid_input": "Veuillez indiquer les bonnes informations :",
    "pattern_mismatch": "Le champ {{field}} n'a pas le format requis",
    "not_valid": "n'est pas valable",
    "system_ready": "Prêt.",
    "no_flows_available": "Je ne peux rien démarrer pour le moment.",
    "flow_execution_error": "{{flowName}} n'a pas pu continuer : {{errorMessage}}",
    "switch_no_branch_found": "Aucune branche ne correspond à la valeur « {{value}} » de "
    "{{variable}}.",
    "tool_failed": "{{toolName}} n'a pas fonctionné : {{errorMessage}}",
    "tool_unknown": "J'ai demandé {{toolName}}, mais on ne sait pas encore si cela a eu "
    "lieu. Quelqu'un s'en occupe ; en attendant, merci de ne pas le redemander.",
    "still_unknown": "On ne sait pas encore si {{toolName}} a eu lieu. Quelqu'un s'en occupe.",
    "approval_waiting": "{{toolName}} doit d'abord être approuvé. J'attends cette approbation.",
    "correction_undo": "{{toolName}} a déjà été fait avec la réponse précédente. "
    "Dois-je l'annuler et le refaire ?",
    "correction_declined": "D'accord, tout reste comme avant.",
    "correction_not_undone": "Rien n'a donc été modifié.",
    "correction_over": "Cela ne peut plus être modifié ici.",
    "correction_final": "Cela ne peut plus être modifié.",
    "correction_kept": "{{toolName}} a déjà été fait et reste tel quel.",
    "subflow_not_found": "Sous-démarche « {{subFlowName}} » introuvable.",
    "flow_switch_error": "Impossible de passer à « {{targetFlow}} ».",
    "flow_not_found": "Impossible de démarrer « {{targetFlow}} » - démarche introuvable.",
    "flow_switch_general_error": "Impossible de passer à une autre démarche.",
    "cmd_flow_exited": "Vous avez quitté {{flowName}}. Puis-je vous aider pour autre chose ?",
    "cmd_help_title": "Aide - {{flowName}}",
    "cmd_help_commands": "Commandes disponibles dans cette démarche :",
    "cmd_help_cancel": "• « annuler la démarche » - Quitter complètement cette démarche",
    "cmd_help_status": "• « statut » - Afficher où en est la démarche",
    "cmd_help_help": "• « aide » - Afficher ce message d'aide",
    "cmd_help_switch": "• « changer » - Aller à {{targetFlow}}",
    "cmd_help_continue": "• « continuer » - Poursuivre {{currentFlow}}",
    "cmd_help_financial": "Il s'agit d'argent : vérifiez chaque donnée avant de confirmer.",
    "cmd_help_question": "Question en cours :",
    "cmd_help_instruction": "Veuillez répondre à la question ci-dessus ou utiliser l'une "
    "des commandes de la liste.",
    "cmd_status_title": "📊 **État de la démarche**",
    "cmd_status_flow": "Démarche : {{flowName}}",
    "cmd_status_steps": "Étapes restantes : {{count}}",
    "cmd_status_depth": "Profondeur : {{count}}",
    "cmd_status_transaction": "Transaction : {{id}}",
    "cmd_status_collected": "Informations recueillies",
    "cmd_interruption_switch": "Passage à {{targetFlow}}.\n\n"
    "(Votre progression dans « {{currentFlow}} » est conservée)",
    "cmd_interruption_continue": "Nous poursuivons {{currentFlow}}.",
    "form_unreadable": "Je n'ai pas compris.",
    "form_tie": "Que désigne {{words}} : {{choices}} ?",
    "form_or": " ou ",
    "form_so_far": "Jusqu'ici : {{filled}}.",
    "form_declined": "D'accord, je ne l'ai pas fait.",
    "form_currency": "Ici, seul {{currency}} est accepté, et {{amount}} n'est pas converti.",
}

WORDS: Final = Words(
    {
        "cancel": (
            "annuler",
            "annuler la démarche",
            "annuler le processus",
            "abandonner la démarche",
            "arrêter la démarche",
            "quitter la démarche",
            "terminer la démarche",
        ),
        "help": (
            "aide",
            "?",
            "options",
            "commandes",
        ),
        "status": (
            "statut",
            "état",
            "où suis-je",
            "où en suis-je",
            "quelle démarche",
            "démarche actuelle",
            "info",
            "infos",
        ),
        "switch": (
            "changer",
            "aller à",
            "basculer",
        ),
        "continue": (
            "continuer",
            "poursuivre",
            "on continue",
        ),
    },
    (
        "démarche",
        "la démarche",
        "processus",
        "le processus",
        "flow",
        "workflow",
    ),
)

PLACES: Final = (
    frozenset({"premier", "premiere", "le premier", "la premiere", "un", "une", "numero un"}),
    frozenset(
        {
            "second",
            "seconde",
            "le second",
            "la seconde",
            "deuxieme",
            "le deuxieme",
            "la deuxieme",
            "deux",
            "numero deux",
        }
    ),
)
"""What picks the first and the second of two, without accents and capitals."""
