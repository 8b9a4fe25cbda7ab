-- QUANTILE, MEDIAN and PERCENTILE_*: one paid choice among candidates, by scores in parts of a row: of q = p/d one unit
-- moves a score by at most max(p, d - p) / d rows for each of its max_rows. All quantiles of a column read one histogram.

-- @question  111 candidates for ages in [0, 110]: the median moves by 4 * 1/2 rows, the lowest tenth by 4 * 9/10
SELECT MEDIAN(age), QUANTILE(age, 0.1) FROM visits
-- @reading  quantile(age) at 1/2: 1 key, linf 2, l1 2
-- @reading  quantile(age) at 1/10: 1 key, linf 18/5, l1 18/5
-- @steps
-- scan t0: c0 text, c2 integer
-- owner c0
-- listed () : 1 key
-- measure c2 integer [0, 110]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: units, histogram of 0 by 1

-- @question  by groups, beside an average, whose grid is another; a float has at most 2^16 candidates on a binary grid
SELECT ward, MEDIAN(cost), AVG(age), MEDIAN(age) FROM visits GROUP BY ward
-- @reading  quantile(cost) at 1/2: 3 keys, linf 2, l1 4
-- @reading  centred(age): 3 keys, linf 440, l1 880
-- @reading  present(age): 3 keys, linf 4, l1 8
-- @reading  quantile(age) at 1/2: 3 keys, linf 2, l1 4
-- @steps
-- scan t0: c0 text, c2 integer, c3 float, c8 integer
-- owner c0
-- listed (c8) : 3 keys
-- measure c2 integer [0, 110] c3 float [0, 40000] / 2^1 c2 integer [0, 110]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0, histogram of 1 by 1, histogram of 2 by 1
