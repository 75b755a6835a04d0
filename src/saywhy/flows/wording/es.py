"""Spanish: the library's own sentences, and the words that are commands."""

from __future__ import annotations

from typing import Final

from saywhy.flows.wording.words import Words

SENTENCES: Final[dict[str, str]] = {
    "flow_init": "Procesando {{flowPrompt}}",
    "flow_interrupted": "Cambiado a {{targetFlow}}\n\n"
    '(Su progreso anterior de "{{currentFlow}}" ha sido guardado)',
    "flow_switch_offer": 'Está en medio de "{{currentFlow}}". Diga "cambiar" para ir a '
    '"{{targetFlow}}", o "continuar" para seguir aquí.',
    "flow_choice": '¿Se refiere a "{{first}}" o a "{{second}}"?',
    "flow_resumed": "Reanudando {{flowName}}",
    "flow_resumed_with_guidance": "Continuando {{flowName}} - Escriba 'cancelar flujo' o "
    "'ayuda' para opciones.",
    "flow_completed": "{{flowName}} completado.",
    "flow_completed_generic": "Flujo completado.",
    "flow_cancelled": "{{flowName}} fue cancelado.",
    "flow_of_agent": "su solicitud",
    "flow_help_general": "Procesando {{flowPrompt}} - También puede 'cancelar flujo' o "
    "pedir 'ayuda'.",
    "flow_help_payment": "Procesando {{flowPrompt}} - También puede 'cancelar flujo' o "
    "pedir 'ayuda'.",
    "critical_error": "Algo salió mal. Inténtelo de nuevo.",
    "invalid_input": "Por favor proporcione la información correcta:",
    "pattern_mismatch": "El dato {{field}} no tiene el formato requerido",
    "not_valid": "no es válido",
    "system_ready": "Listo.",
    "no_flows_available": "Ahora no hay nada que pueda iniciar.",
    "flow_execution_error": "{{flowName}} no pudo continuar: {{errorMessage}}",
    "switch_no_branch_found": 'Ninguna rama corresponde al valor "{{value}}" de {{variable}}.',
    "tool_failed": "{{toolName}} no funcionó: {{errorMessage}}",
    "tool_unknown": "Pedí {{toolName}}, pero aún no se sabe si se realizó. Alguien lo "
    "está revisando; por favor no lo pida de nuevo mientras tanto.",
    "still_unknown": "Aún no se sabe si {{toolName}} se realizó. Alguien lo está revisando.",
    "approval_waiting": "{{toolName}} necesita primero una aprobación. La estoy esperando.",
    "correction_undo": "{{toolName}} ya se hizo con la respuesta anterior. "
    "¿Lo deshago y lo hago de nuevo?",
    "correction_declined": "De acuerdo, todo queda como estaba.",
    "correction_not_undone": "Así que no se cambió nada.",
    "correction_over": "Eso ya no se puede cambiar aquí.",
    "correction_final": "Eso ya no se puede cambiar.",
    "correction_kept": "{{toolName}} ya se hizo y queda como está.",
    "subflow_not_found": 'Subflujo "{{subFlowName}}" no encontrado.',
    "flow_switch_error": 'No se pudo cambiar a "{{targetFlow}}".',
    "flow_not_found": 'No se pudo iniciar "{{targetFlow}}" - flujo no encontrado.',
    "flow_switch_general_error": "No se pudo cambiar a otro flujo.",
    "cmd_flow_exited": "Salió exitosamente de {{flowName}}. ¿Cómo puedo ayudarle con algo más?",
    "cmd_help_title": "Ayuda del Flujo - {{flowName}}",
    "cmd_help_commands": "Comandos disponibles en este flujo:",
    "cmd_help_cancel": '• "cancelar flujo" - Salir completamente de este flujo',
    "cmd_help_status": '• "estado" - Mostrar información del flujo actual',
    "cmd_help_help": '• "ayuda" - Mostrar este mensaje de ayuda',
    "cmd_help_switch": '• "cambiar" - Ir a {{targetFlow}}',
    "cmd_help_continue": '• "continuar" - Seguir con {{currentFlow}}',
    "cmd_help_financial": "Se trata de dinero: revise cada dato antes de confirmar.",
    "cmd_help_question": "Pregunta Actual:",
    "cmd_help_instruction": "Por favor responda a la pregunta anterior, o use un comando "
    "de la lista anterior.",
    "cmd_status_title": "📊 **Estado del flujo**",
    "cmd_status_flow": "Flujo: {{flowName}}",
    "cmd_status_steps": "Pasos restantes: {{count}}",
    "cmd_status_depth": "Profundidad: {{count}}",
    "cmd_status_transaction": "Transacción: {{id}}",
    "cmd_status_collected": "Información recopilada",
    "cmd_interruption_switch": "Cambiando a {{targetFlow}}.\n\n"
    '(Su progreso en "{{currentFlow}}" queda guardado)',
    "cmd_interruption_continue": "Continuando con {{currentFlow}}.",
    "form_unreadable": "No le he entendido.",
    "form_tie": "¿Qué es {{words}}: {{choices}}?",
    "form_or": " o ",
    "form_so_far": "Hasta ahora: {{filled}}.",
    "form_declined": "De acuerdo, no lo he hecho.",
    "form_currency": "Aquí solo se puede usar {{currency}}, y {{amount}} no se convierte.",
}

WORDS: Final = Words(
    {
        "cancel": (
            "cancelar",
            "cancelar flujo",
            "cancelar workflow",
            "abortar flujo",
            "parar flujo",
            "salir flujo",
            "terminar flujo",
            "fin flujo",
        ),
        "help": (
            "ayuda",
            "?",
            "opciones",
            "comandos",
        ),
        "status": (
            "estado",
            "donde estoy",
            "que flujo",
            "flujo actual",
            "info",
        ),
        "switch": (
            "cambiar",
            "ir a",
            "cambio",
        ),
        "continue": (
            "continuar",
            "proceder",
            "seguir",
            "continúa",
        ),
    },
    (
        "flujo",
        "flow",
        "workflow",
    ),
    noun_may_lead=False,
)

PLACES: Final = (
    frozenset(
        {
            "primero",
            "primera",
            "el primero",
            "la primera",
            "lo primero",
            "uno",
            "una",
            "el uno",
            "la una",
            "numero uno",
        }
    ),
    frozenset(
        {
            "segundo",
            "segunda",
            "el segundo",
            "la segunda",
            "lo segundo",
            "dos",
            "el dos",
            "la dos",
            "numero dos",
        }
    ),
)
"""What picks the first and the second of two, without accents and capitals."""
