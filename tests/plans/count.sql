-- COUNT: one paid reading each. Tables and caps: tests/support/questions.py (max_rows 4, max_groups 2, one = 2^16).

-- @question  every row counts, up to 4 of a person
SELECT COUNT(*) FROM visits
-- @reading  rows: 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text
-- owner c0
-- listed () : 1 key
-- measure
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: rows

-- @question  a person is in at most 2 of 3 groups: l1 = 2 * 4
SELECT city, COUNT(*) FROM visits GROUP BY city
-- @reading  rows: 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c1 text
-- owner c0
-- listed (c1) : 3 keys
-- measure
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: rows

-- @question  where a column is present
SELECT COUNT(note) FROM visits WHERE age >= 18
-- @reading  present(note): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer, c11 text
-- filter c2 >= 18
-- owner c0
-- listed () : 1 key
-- measure c11 text [0, 0]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0

-- @question  people: each once a group, so max_rows plays no part; 2 groups of 6
SELECT COUNT(DISTINCT patient) FROM visits GROUP BY city, smoker
-- @reading  units: 6 keys, linf 1, l1 2
-- @steps
-- scan t0: c0 text, c1 text, c7 integer
-- owner c0
-- listed (c1, c7) : 6 keys
-- measure
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: units

-- @question  each row a unit: one row, one group, nothing to scale
SELECT g, COUNT(*) FROM rows GROUP BY g
-- @reading  rows: 2 keys, linf 1, l1 1
-- @steps
-- scan t1: c1 text
-- owner none
-- listed (c1) : 2 keys
-- measure
-- per unit
-- scale down: 1 rows, 1 groups, one 1
-- total: rows

-- @question  rows where a condition is true, up to 4 of a person: a 1 is counted, which is missing elsewhere
SELECT COUNT_IF(age > 65) FROM visits
-- @reading  present(CASE WHEN age > 65 THEN 1 ELSE NULL END): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer
-- project p0 = (c2 > 65 then 1, else missing)
-- owner c0
-- listed () : 1 key
-- measure p0 integer [0, 0]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0

-- @question  the same reading is paid once; a person moves it, and the rows it is a share of, by 4 in 2 of 3 groups
SELECT city, COUNT_IF(smoker) / COUNT(*), COUNT(*) FILTER (WHERE smoker) FROM visits GROUP BY city
-- @reading  present(CASE WHEN smoker THEN 1 ELSE NULL END): 3 keys, linf 4, l1 8
-- @reading  rows: 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c1 text, c7 integer
-- project p0 = (c7 = 1 then 1, else missing)
-- owner c0
-- listed (c1) : 3 keys
-- measure p0 integer [0, 0]
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, rows

-- @question  different values, of a person up to 4 in each of 2 groups, in whole values; text is measured as it is
SELECT city, COUNT(DISTINCT UPPER(note)) AS notes, COUNT(DISTINCT day) AS days, COUNT(*) FROM visits GROUP BY city
-- @reading  distinct(UPPER(note)): 3 keys, linf 4, l1 8
-- @reading  distinct(day): 3 keys, linf 4, l1 8
-- @reading  rows: 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c1 text, c5 integer, c11 text
-- project p0 = upper(c11)
-- owner c0
-- listed (c1) : 3 keys
-- measure values of p0 values of c5
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: distinct 0, distinct 1, rows
