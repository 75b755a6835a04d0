"""Instructions: what a model is told after a tool answers, and while the decision says so.

Rules stand with the tools (`rule`, `follow_up`) or with the agent (`agent_rule`). They are judged
(`judge`, `evaluate`), joined by what the handler says (`merge`), written out (`render`) and put
after the tool's text (`inject`). Everything is pure: when that happens is the loop's.
"""
