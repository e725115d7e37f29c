import time, asyncio, pytest
from tests.arena.test_bad_network import *
from wakeng.services.seat import Seat
LOG=[]
def wrap(mp, cls,name):
    old=getattr(cls,name)
    def new(self,*a):
        LOG.append((time.monotonic(), name, self.name.bot, len(self.outstanding()), len(self._pending))); return old(self,*a)
    mp.setattr(cls,name,new)
@pytest.mark.parametrize("i", range(12))
async def test_dbg(tmp_path, monkeypatch, i):
    LOG.clear()
    for n in ('connection_lost','connection_back','pause'): wrap(monkeypatch, Seat, n)
    loopback = Loopback(works=True)
    async with network(tmp_path, ["stream","stream"], loopback=loopback) as net:
        match = net.match(hands=MANY)
        await match.decisions(500)
        first = await lose_all(match, net)
        bad1 = [q for q in first if not stopped(q)]
        later = asyncio.get_running_loop().time() + TOGETHER
        await find_all(match, net)
        await match.until(lambda: asyncio.get_running_loop().time() > later)
        LOG.append((time.monotonic(),"LOSE2", [d.proxy.accepted for d in net.distant]))
        second = await lose_all(match, net)
        LOG.append((time.monotonic(),"LOST2", [d.proxy.accepted for d in net.distant]))
        paused = [question.asker.table for question in first]
        bad = [(stopped(q), q.asker.table in paused, q.lost_at, q.asker.table.paused, q.tries, q.sent) for q in second if stopped(q) == (q.asker.table in paused)]
        assert not bad and not bad1, (bad[:5], LOG)
        await find_all(match, net)
        await match.records()
