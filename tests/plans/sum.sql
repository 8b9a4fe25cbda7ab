-- SUM: one paid reading, S' + L n', which a unit moves by at most max_rows * max(|L|, |U|) a key.

-- @question  ages in [0, 110], 4 rows: 440
SELECT SUM(age) FROM visits
-- @reading  values(age): 1 key, linf 440, l1 440
-- @steps
-- scan t0: c0 text, c2 integer
-- owner c0
-- listed () : 1 key
-- measure c2 integer [0, 110]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  bounds of both signs, [-50, 10000]: 4 * 10000 a key, in 2 keys
SELECT smoker, SUM("net-gain") FROM visits GROUP BY smoker
-- @reading  values(net-gain): 2 keys, linf 40000, l1 80000
-- @steps
-- scan t0: c0 text, c7 integer, c10 integer
-- owner c0
-- listed (c7) : 2 keys
-- measure c10 integer [-50, 10000]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  a float column: steps of at most 20000 / 2^44, that is 2^-30; 20000 * 2^30 = 21474836480000
SELECT city, SUM(cost) FROM visits WHERE NOT smoker GROUP BY city
-- @reading  values(cost): 3 keys, linf 80000, l1 160000
-- @steps
-- scan t0: c0 text, c1 text, c3 float, c7 integer
-- filter not c7 = 1
-- owner c0
-- listed (c1) : 3 keys
-- measure c3 float [0, 21474836480000] / 2^30
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  each row a unit, bounds [-5, 9]: 9
SELECT SUM(x) FROM rows
-- @reading  values(x): 1 key, linf 9, l1 9
-- @steps
-- scan t1: c0 integer
-- owner none
-- listed () : 1 key
-- measure c0 integer [-5, 9]
-- per unit
-- scale down: 1 rows, 1 groups, one 1
-- total: present 0, values 0
