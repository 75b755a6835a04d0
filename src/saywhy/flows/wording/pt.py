"""Portuguese: the library's own sentences, and the words that are commands."""

from __future__ import annotations

from typing import Final

from saywhy.flows.wording.words import Words

SENTENCES: Final[dict[str, str]] = {
    "flow_init": "Processando {{flowPrompt}}",
    "flow_interrupted": "Mudei para {{targetFlow}}\n\n"
    '(Seu progresso em "{{currentFlow}}" foi salvo)',
    "flow_switch_offer": 'Você está no meio de "{{currentFlow}}". Diga "mudar" para ir '
    'para "{{targetFlow}}", ou "continuar" para seguir aqui.',
    "flow_choice": 'Você quer dizer "{{first}}" ou "{{second}}"?',
    "flow_resumed": "Retomando {{flowName}}",
    "flow_resumed_with_guidance": "Retomando {{flowName}} - Digite 'cancelar fluxo' ou "
    "'ajuda' para ver as opções.",
    "flow_completed": "{{flowName}} concluído.",
    "flow_completed_generic": "Fluxo concluído.",
    "flow_cancelled": "{{flowName}} foi cancelado.",
    "flow_of_agent": "o seu pedido",
    "flow_help_general": "Processando {{flowPrompt}} - Você também pode 'cancelar fluxo' "
    "ou pedir 'ajuda'.",
    "flow_help_payment": "Processando {{flowPrompt}} - Você também pode 'cancelar fluxo' "
    "ou pedir 'ajuda'.",
    "critical_error": "Algo deu errado. Tente novamente.",
    "invalid_input": "Por favor, informe os dados corretos:",
    "pattern_mismatch": "O campo {{field}} não está no formato exigido",
    "not_valid": "não é válido",
    "system_ready": "Pronto.",
    "no_flows_available": "Não há nada que eu possa iniciar agora.",
    "flow_execution_error": "Não foi possível continuar {{flowName}}: {{errorMessage}}",
    "switch_no_branch_found": 'Nenhuma opção corresponde ao valor "{{value}}" de {{variable}}.',
    "tool_failed": "{{toolName}} não funcionou: {{errorMessage}}",
    "tool_unknown": "Solicitei {{toolName}}, mas ainda não se sabe se foi realizado. "
    "Alguém está verificando; por favor, não peça de novo enquanto isso.",
    "still_unknown": "Ainda não se sabe se {{toolName}} foi realizado. Alguém está verificando.",
    "approval_waiting": "{{toolName}} precisa primeiro de uma aprovação. Estou esperando por ela.",
    "correction_undo": "{{toolName}} já foi feito com a resposta anterior. "
    "Devo desfazer e fazer de novo?",
    "correction_declined": "Certo, tudo fica como estava.",
    "correction_not_undone": "Por isso nada foi alterado.",
    "correction_over": "Isso já não pode ser alterado aqui.",
    "correction_final": "Isso já não pode ser alterado.",
    "correction_kept": "{{toolName}} já foi feito e fica como está.",
    "subflow_not_found": 'Subfluxo "{{subFlowName}}" não encontrado.',
    "flow_switch_error": 'Não foi possível mudar para "{{targetFlow}}".',
    "flow_not_found": 'Não foi possível iniciar "{{targetFlow}}" - fluxo não encontrado.',
    "flow_switch_general_error": "Não foi possível mudar para outro fluxo.",
    "cmd_flow_exited": "Você saiu de {{flowName}}. Como posso ajudar com outra coisa?",
    "cmd_help_title": "Ajuda do fluxo - {{flowName}}",
    "cmd_help_commands": "Comandos disponíveis neste fluxo:",
    "cmd_help_cancel": '• "cancelar fluxo" - Sair deste fluxo por completo',
    "cmd_help_status": '• "status" - Mostrar informações do fluxo atual',
    "cmd_help_help": '• "ajuda" - Mostrar esta mensagem de ajuda',
    "cmd_help_switch": '• "mudar" - Ir para {{targetFlow}}',
    "cmd_help_continue": '• "continuar" - Seguir com {{currentFlow}}',
    "cmd_help_financial": "Trata-se de dinheiro: confira cada dado antes de confirmar.",
    "cmd_help_question": "Pergunta atual:",
    "cmd_help_instruction": "Por favor, responda à pergunta acima ou use um dos comandos da lista.",
    "cmd_status_title": "📊 **Situação do fluxo**",
    "cmd_status_flow": "Fluxo: {{flowName}}",
    "cmd_status_steps": "Passos restantes: {{count}}",
    "cmd_status_depth": "Profundidade: {{count}}",
    "cmd_status_transaction": "Transação: {{id}}",
    "cmd_status_collected": "Informações coletadas",
    "cmd_interruption_switch": "Mudando para {{targetFlow}}.\n\n"
    '(Seu progresso em "{{currentFlow}}" fica salvo)',
    "cmd_interruption_continue": "Continuando com {{currentFlow}}.",
    "form_unreadable": "Não entendi.",
    "form_tie": "O que é {{words}}: {{choices}}?",
    "form_or": " ou ",
    "form_so_far": "Até agora: {{filled}}.",
    "form_declined": "Tudo bem, não fiz nada.",
    "form_currency": "Aqui só se pode usar {{currency}}, e {{amount}} não é convertido.",
}

WORDS: Final = Words(
    {
        "cancel": (
            "cancelar",
            "cancelar fluxo",
            "cancelar processo",
            "abortar fluxo",
            "parar fluxo",
            "sair do fluxo",
            "encerrar fluxo",
            "terminar fluxo",
        ),
        "help": (
            "ajuda",
            "?",
            "opções",
            "comandos",
        ),
        "status": (
            "status",
            "situação",
            "estado",
            "onde estou",
            "que fluxo",
            "fluxo atual",
            "info",
        ),
        "switch": (
            "mudar",
            "trocar",
            "ir para",
        ),
        "continue": (
            "continuar",
            "prosseguir",
            "seguir",
            "seguir em frente",
        ),
    },
    (
        "fluxo",
        "o fluxo",
        "do fluxo",
        "processo",
        "o processo",
        "flow",
        "workflow",
    ),
)

PLACES: Final = (
    frozenset({"primeiro", "primeira", "o primeiro", "a primeira", "um", "uma", "numero um"}),
    frozenset({"segundo", "segunda", "o segundo", "a segunda", "dois", "duas", "numero dois"}),
)
"""What picks the first and the second of two, without accents and capitals."""
