"""Tournaments played by workers: a durable queue of blocks in NATS JetStream, and one store that all of them share.

    coordinator                      NATS JetStream                     worker, any number of them
      Progress ── blocks ──> BlockExecutor ──publish──> stream ──pull──> Worker -> Tables -> RecordWriter ──┐
         ^                        ^                        ^                 │                              v
         └──────── outcomes ──────┤                        └─ack, heartbeat──┘                            store
                                  └──────── "block 17 is recorded" <──────────┘   (read back from there)    │
                                  └─────────────────────────────────────────────────────────────────────────┘

**The store is the truth.** A block's message is acknowledged once its records are committed, and never before; records
are unique by match and hand. So at-least-once delivery makes each hand count once, and whatever the queue or a notice
loses is found again by looking into the store (executor.py). The queue holds nothing that cannot be made anew.

**A block has one message.** It has a subject of its own, of which the stream takes one message only, so that publishing
twice queues once. A worker tells the server now and then that it still plays; one that falls silent loses the message
to another, which goes on at the first hand that is not recorded (worker.py).

**Leases** of bots that several workers reach are shares of the bot's own limit, changed by compare and set on one key
per bot (shares.py, leases.py).
"""
