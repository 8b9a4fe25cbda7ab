-- TOP_K(x, k), MODE, and a grouping in the order of a count that it does not show: the core plan is that of the counts,
-- and what is chosen by them moves as far as two counts of one set of keys move apart, once for all of its keys.

-- @question  one set of three wards: counts move apart by 4 rows, whatever the number of groups a unit may be in
SELECT MODE(ward) FROM visits
-- @reading  the 1 greatest of 3, rows: 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c8 integer
-- owner c0
-- listed (c8) : 3 keys
-- measure
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: rows

-- @question  by a count of rows where a column is present; two names are no more than the groups that a unit may be in
SELECT ward FROM visits GROUP BY ward ORDER BY COUNT(age) DESC LIMIT 2
-- @reading  the 2 greatest of 3, present(age): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer, c8 integer
-- owner c0
-- listed (c8) : 3 keys
-- measure c2 integer [0, 0]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0

-- @question  three names cost more than to count every ward, of which a unit counts in two: they are those of the counts
SELECT TOP_K(ward, 3) FROM visits
-- @reading  rows: 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c8 integer
-- owner c0
-- listed (c8) : 3 keys
-- measure
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: rows
