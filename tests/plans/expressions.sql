-- Row expressions: computed once beside the scan's columns, with bounds that follow from those of the columns.

-- @question  ages in [0, 110], squared [0, 12100], 4 rows: 48400
SELECT SUM(age * age) FROM visits WHERE note LIKE 'a!%%' ESCAPE '!'
-- @reading  values(age * age): 1 key, linf 48400, l1 48400
-- @steps
-- scan t0: c0 text, c2 integer, c11 text
-- filter c11 like 'a!%%' escape '!'
-- project p0 = mul_i(c2, c2)
-- owner c0
-- listed () : 1 key
-- measure p0 integer [0, 12100]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  bins of [0, 110]: 0, 50 and 100; a column is clamped before it is a key, and a condition is 0 or 1
SELECT FLOOR(age / 50) * 50 AS bin, SUM(CASE WHEN smoker THEN 1 ELSE 0 END) FROM visits GROUP BY bin
-- @reading  values(CASE WHEN smoker THEN 1 ELSE 0 END): 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c2 integer, c7 integer
-- project p0 = mul_i(floor(div_f(to_f(clip(c2, 0, 110)), 50.0)), 50), p1 = (c7 = 1 then 1, else 0)
-- owner c0
-- listed (p0) : 3 keys
-- measure p1 integer [0, 1]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0

-- @question  FILTER is a CASE: rows that do not fit are missing, and not counted
SELECT COUNT(*) FILTER (WHERE age + 1 > 65.5) FROM visits
-- @reading  present(CASE WHEN (age + 1) > 65 THEN 1 ELSE NULL END): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer
-- project p0 = (add_i(c2, 1) > 65 then 1, else missing)
-- owner c0
-- listed () : 1 key
-- measure p0 integer [0, 0]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0
