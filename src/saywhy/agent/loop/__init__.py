"""The loop of an agent as charts: which stages there are, written once and put together twice.

`build` makes the loop that goes back to the model call, `message_api` the one whose slots are
chosen with evidence. Both are made of the stages in `seeding`, `slots`, `calling`, `rounds`,
`routing` and `finishing`. Everything is pure but `answers`, which is what acts.
"""
