-- AVG: two paid readings, the centred sum 2 S' - W n' (moves by max_rows * W a key) and the count n'.

-- @question  ages in [0, 110]: W = 110, so 4 * 110 and 4
SELECT AVG(age) FROM visits
-- @reading  centred(age): 1 key, linf 440, l1 440
-- @reading  present(age): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer
-- owner c0
-- listed () : 1 key
-- measure c2 integer [0, 110]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  W counts, not the bounds: [-50, 10000] is 10050 wide
SELECT ward, AVG("net-gain"), COUNT("net-gain") FROM visits GROUP BY ward
-- @reading  centred(net-gain): 3 keys, linf 40200, l1 80400
-- @reading  present(net-gain): 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c8 integer, c10 integer
-- owner c0
-- listed (c8) : 3 keys
-- measure c10 integer [-50, 10000]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  a share: a boolean is 0 or 1
SELECT AVG(smoker) FROM visits
-- @reading  centred(smoker): 1 key, linf 4, l1 4
-- @reading  present(smoker): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c7 integer
-- owner c0
-- listed () : 1 key
-- measure c7 integer [0, 1]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0
