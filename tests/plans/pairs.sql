-- COVAR_*, CORR, REGR_*: over the rows where both are present; products within Wx Wy / 4 of 0, which move by
-- max_rows * Wx Wy / 2 a key (doubled).

-- @question  W = 110 and 20000: products within 550000 of 0
SELECT COVAR_POP(cost, age) FROM visits
-- @reading  centred(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END): 1 key, linf 80000, l1 80000
-- @reading  centred(CASE WHEN NOT (cost IS NULL) THEN age ELSE NULL END): 1 key, linf 440, l1 440
-- @reading  product(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END, CASE WHEN NOT (cost IS NULL) THEN age ELSE NULL END): 1 key, linf 4400000, l1 4400000
-- @reading  present(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer, c3 float
-- project p0 = (not c2 missing then c3, else missing), p1 = (not c3 missing then c2, else missing)
-- owner c0
-- listed () : 1 key
-- measure p0 float [0, 687194767360000] / 2^35 p1 integer [0, 110] and 0 times 1 [-9227468800000, 9227468800000] / 2^13
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0, present 1, values 1, values 2

-- @question  all of a line and a correlation are six readings, whichever is named first
SELECT city, CORR(age, cost), REGR_SLOPE(cost, age), REGR_R2(cost, age) FROM visits GROUP BY city
-- @reading  centred(CASE WHEN NOT (cost IS NULL) THEN age ELSE NULL END): 3 keys, linf 440, l1 880
-- @reading  centred(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END): 3 keys, linf 80000, l1 160000
-- @reading  product(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END, CASE WHEN NOT (cost IS NULL) THEN age ELSE NULL END): 3 keys, linf 4400000, l1 8800000
-- @reading  square(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END): 3 keys, linf 400000000, l1 800000000
-- @reading  square(CASE WHEN NOT (cost IS NULL) THEN age ELSE NULL END): 3 keys, linf 12100, l1 24200
-- @reading  present(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END): 3 keys, linf 4, l1 8
-- @steps
-- scan t0: c0 text, c1 text, c2 integer, c3 float
-- project p0 = (not c3 missing then c2, else missing), p1 = (not c2 missing then c3, else missing)
-- owner c0
-- listed (c1) : 3 keys
-- measure p0 integer [0, 110] p1 float [0, 171798691840000] / 2^33 and 1 times 0 [-9227468800000, 9227468800000] / 2^11 and 1 times 1 [0, 26214400000000] / 2^50 and 0 times 0 [0, 12100] / 2^0
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0, values 0, present 1, values 1, values 2, values 3, values 4

-- @question  the number of rows with both
SELECT REGR_COUNT(age, cost) FROM visits
-- @reading  present(CASE WHEN NOT (age IS NULL) THEN cost ELSE NULL END): 1 key, linf 4, l1 4
-- @steps
-- scan t0: c0 text, c2 integer, c3 float
-- project p0 = (not c2 missing then c3, else missing)
-- owner c0
-- listed () : 1 key
-- measure p0 float [0, 0] / 2^0
-- per unit
-- scale down: 4 rows, 2 groups, one 65536
-- total: present 0
