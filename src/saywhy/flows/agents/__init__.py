"""Agents in flows, and flows in agents: one conversation, one record.

A flow calls an agent's chart in its AGENT step; an agent's tool is carried out by a flow, or by a
call that goes the way of CALL-TOOL. Flows know agents as charts only: what happens inside one is
`saywhy.agent`'s.
"""
