"""The indexer: reads the logs of followed contracts into tables, and follows reorgs.

What a change must keep:

- One process reads a chain at a time (`backend.chain.coordination.leadership`); any process may ask for a pass.
- Logs count only if the machine that returned them has the whole range: its height is read in the same batch.
- A lower height or a missing block is a lagging machine, so a pass waits. A different hash at a height is a reorg.
- A trailing window is read again in every pass, because a machine may return logs late.
- The cursor and the rows of a range are written in one transaction. No transaction is open during an RPC call.
- Rows are set from events, never incremented, so reading a range twice changes nothing.
- The cursor never falls below its trail: a deeper reorg stops the chain until `signum chain rewind`.
- A contract whose events cannot be read is skipped, with an alarm. It never stops the others.
"""
