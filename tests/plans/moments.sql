-- VAR_POP, VAR_SAMP, STDDEV_*: AVG's two readings and the squares from the middle, which move by max_rows * W^2 / 4 a key
-- (from the middle of their own [0, W^2 / 4], doubled).

-- @question  ages in [0, 110]: W = 110, squares in [0, 3025]: 4 * 110, 4 * 3025 and 4
SELECT VAR_POP(age) FROM visits
-- @reading  centred(age): 1 key, linf 440, l1 440
-- @reading  square(age): 1 key, linf 12100, l1 12100
-- @reading  present(age): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer
-- owner c0
-- listed () : 1 key
-- measure c2 integer [0, 110] and 0 times 0 [0, 12100] / 2^0
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0, values 1

-- @question  the average beside it is free, and the square of [-50, 10000] is in quarters: (10050 / 2)^2 = 25250625
SELECT ward, STDDEV("net-gain"), AVG("net-gain") FROM visits GROUP BY ward
-- @reading  centred(net-gain): 3 keys, linf 40200, l1 80400
-- @reading  square(net-gain): 3 keys, linf 101002500, l1 202005000
-- @reading  present(net-gain): 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c8 integer, c10 integer
-- owner c0
-- listed (c8) : 3 keys
-- measure c10 integer [-50, 10000] and 0 times 0 [0, 101002500] / 2^0
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0, values 1

-- @question  a float: its grid, and a coarser one for the squares
SELECT VARIANCE(cost) FROM visits
-- @reading  centred(cost): 1 key, linf 80000, l1 80000
-- @reading  square(cost): 1 key, linf 400000000, l1 400000000
-- @reading  present(cost): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c3 float
-- owner c0
-- listed () : 1 key
-- measure c3 float [0, 21474836480000] / 2^30 and 0 times 0 [0, 26214400000000] / 2^44
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0, values 1
