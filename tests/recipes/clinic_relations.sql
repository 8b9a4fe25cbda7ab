-- Questions of a made-up clinic: patients, visits and treatments are owned by patients, towns are public. What they give
-- at a price whose noise is 0. Checked by test_relations.py, which says what the lines after each mean.

-- cohorts
SELECT town, COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM treatments WHERE drug = 'statin') GROUP BY town;
-- equal
SELECT COUNT(*) AS n FROM patients WHERE pid NOT IN (SELECT pid FROM visits);
-- equal
SELECT sex, COUNT(*) AS n FROM patients AS p WHERE EXISTS (SELECT 1 FROM treatments AS t WHERE t.pid = p.pid AND t.dose > 50) GROUP BY sex;
-- equal
SELECT COUNT(*) AS n, AVG(cost) AS cost FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM treatments AS t WHERE t.pid = v.pid);
-- equal
SELECT pid IN (SELECT pid FROM treatments) AS treated, COUNT(DISTINCT pid) AS patients FROM visits GROUP BY 1;
-- equal
SELECT COUNT(*) AS n FROM visits WHERE pid IN (SELECT pid FROM patients WHERE sex = 'f' AND born >= '1980-01-01')
AND pid NOT IN (SELECT pid FROM treatments WHERE drug = 'insulin');
-- equal
SELECT COUNT(*) AS n FROM patients WHERE pid IN (SELECT pid FROM visits WHERE town = 'Hull')
OR pid IN (SELECT pid FROM treatments GROUP BY pid HAVING SUM(dose) > 100);
-- equal
SELECT COUNT_IF(pid IN (SELECT pid FROM treatments WHERE drug = 'statin')) AS n FROM patients;
-- equal

-- one number for each patient
SELECT AVG(CLIP(total, 0, 5000)) AS cost FROM (SELECT pid, SUM(cost) AS total FROM visits GROUP BY pid);
-- equal
SELECT COUNT(*) AS n FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) WHERE n > 3;
-- equal
SELECT n, COUNT(*) AS patients FROM (SELECT pid, CLIP(COUNT(*), 0, 6) AS n FROM visits GROUP BY pid) GROUP BY n;
-- equal
SELECT town, COUNT(*) AS n FROM (SELECT pid, ARG_MIN(town, day) AS town FROM visits GROUP BY pid) GROUP BY town;
-- plain: SELECT town, COUNT(*) FROM (SELECT pid, FIRST(town ORDER BY day, town) FILTER (WHERE day IS NOT NULL AND town IS NOT NULL) AS town FROM visits GROUP BY pid) GROUP BY town
SELECT COUNT(*) AS n, AVG(days) AS days FROM (SELECT pid, CLIP(DATE_DIFF('day', MIN(day), MAX(day)), 0, 400) AS days FROM visits GROUP BY pid);
-- equal
SELECT SUM(CLIP(drugs, 0, 5)) AS drugs FROM (SELECT pid, COUNT(DISTINCT drug) AS drugs FROM treatments GROUP BY pid);
-- equal
SELECT COUNT(*) AS n, COUNT(mean) AS known, AVG(mean) AS mean FROM (SELECT pid, AVG(cost) AS mean FROM visits GROUP BY pid);
-- equal
SELECT AVG(high) AS high, AVG(low) AS low FROM (SELECT pid, MAX(cost) AS high, MIN(cost) AS low FROM visits GROUP BY pid);
-- equal
SELECT COUNT(*) AS n FROM (SELECT pid, BOOL_AND(urgent) AS always, BOOL_OR(urgent) AS ever FROM visits GROUP BY pid) WHERE ever AND NOT always;
-- equal
SELECT urgent, COUNT(*) AS n, AVG(CLIP(total, 0, 900)) AS total FROM (SELECT pid, urgent, SUM(cost) AS total FROM visits GROUP BY pid, urgent) GROUP BY urgent;
-- equal
SELECT COUNT(*) AS n FROM (SELECT DISTINCT pid, town FROM visits WHERE town IS NOT NULL);
-- equal
SELECT COUNT(*) AS n FROM (SELECT pid, COUNT_IF(urgent) AS u, COUNT(*) FILTER (WHERE cost > 100) AS dear FROM visits GROUP BY pid HAVING COUNT(*) BETWEEN 2 AND 5)
WHERE u > dear;
-- equal
SELECT COUNT(DISTINCT pid) AS n FROM (SELECT pid, month, COUNT(*) AS k FROM (SELECT pid, EXTRACT(month FROM day) AS month FROM visits) GROUP BY pid, month)
WHERE k >= 2;
-- equal

-- beside each other
SELECT sex, AVG(cost) AS cost, COUNT(*) AS n FROM visits JOIN (SELECT pid, MIN(sex) AS sex FROM patients GROUP BY pid) AS p USING (pid) GROUP BY sex;
-- equal
SELECT p.sex, COUNT(*) AS n, AVG(CLIP(k, 0, 20)) AS k FROM patients AS p LEFT JOIN (SELECT pid, COUNT(*) AS k FROM visits GROUP BY pid) AS v ON v.pid = p.pid GROUP BY p.sex;
-- equal
SELECT AVG(COALESCE(CLIP(k, 0, 20), 0)) AS k FROM patients LEFT JOIN (SELECT pid, COUNT(*) AS k FROM treatments GROUP BY pid) AS t USING (pid);
-- equal
SELECT region, COUNT(*) AS n, AVG(cost) AS cost FROM visits JOIN towns USING (town) GROUP BY region;
-- equal
SELECT region, sex, COUNT(*) AS n FROM visits AS v JOIN towns AS t ON v.town = t.town JOIN (SELECT pid, MIN(sex) AS sex FROM patients GROUP BY pid) AS p ON p.pid = v.pid GROUP BY region, sex;
-- equal
SELECT tag, COUNT(*) AS n FROM visits JOIN tags ON visits.town = tags.town GROUP BY tag;
-- equal
SELECT COUNT(*) AS n, COUNT(tag) AS tagged FROM visits LEFT JOIN tags ON visits.town = tags.town;
-- equal
SELECT COUNT(*) AS n FROM visits AS v JOIN (SELECT pid, day, COUNT(*) AS k FROM treatments GROUP BY pid, day) AS t ON t.pid = v.pid AND t.day = v.day;
-- equal
SELECT home, COUNT(*) AS n FROM visits JOIN (SELECT pid, MIN(town) AS home FROM visits GROUP BY pid) AS h USING (pid) WHERE home <> town GROUP BY home;
-- equal
SELECT COUNT(*) AS n FROM visits AS v LEFT JOIN (SELECT pid, MIN(sex) AS sex FROM patients GROUP BY pid) AS p ON v.pid = p.pid WHERE p.pid IS NULL;
-- equal

SELECT sex, AVG(cost) AS cost, COUNT(*) AS n FROM visits JOIN patients USING (pid) GROUP BY sex;
-- equal
SELECT region, sex, COUNT(*) AS n FROM visits AS v JOIN towns AS t ON v.town = t.town JOIN patients AS p ON p.pid = v.pid GROUP BY region, sex;
-- equal
SELECT COUNT(*) AS n FROM visits AS v LEFT JOIN patients AS p ON v.pid = p.pid WHERE p.pid IS NULL;
-- equal
SELECT AVG(DATE_DIFF('day', p.born, v.day)) AS days FROM visits AS v JOIN patients AS p ON p.pid = v.pid WHERE p.born >= '1990-01-01';
-- refused: bounds
SELECT region, COUNT(*) AS n FROM visits AS v JOIN (SELECT town AS place, region FROM towns WHERE region <> 'South') AS t ON t.place = v.town GROUP BY region;
-- equal
WITH north AS (SELECT * FROM towns WHERE region = 'North') SELECT COUNT(*) AS n, AVG(cost) AS cost FROM north JOIN visits USING (town);
-- equal
SELECT COUNT(*) AS n FROM visits AS v LEFT JOIN (SELECT town AS place, region FROM towns) AS t ON v.town = t.place WHERE t.region IS NULL;
-- equal
SELECT COUNT(*) AS n FROM visits WHERE town IN (SELECT town FROM towns WHERE region = 'North');
-- equal
SELECT COUNT(*) AS n FROM visits AS v WHERE NOT EXISTS (SELECT 1 FROM tags AS t WHERE t.town = v.town AND t.tag = 'old');
-- equal
SELECT COUNT(*) AS n FROM visits WHERE town NOT IN (SELECT town FROM towns WHERE region = 'North');
-- equal

-- names of WITH
WITH dear AS (SELECT * FROM visits WHERE cost > 100), counted AS (SELECT pid, COUNT(*) AS n FROM dear GROUP BY pid)
SELECT sex, AVG(CLIP(n, 0, 20)) AS n FROM counted JOIN (SELECT pid, MIN(sex) AS sex FROM patients GROUP BY pid) AS p USING (pid) GROUP BY sex;
-- equal
WITH v AS (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid), t AS (SELECT pid, SUM(dose) AS dose FROM treatments GROUP BY pid)
SELECT COUNT(*) AS n, SUM(CLIP(n, 0, 20)) AS visits, AVG(CLIP(dose, 0, 300)) AS dose FROM v JOIN t ON v.pid = t.pid WHERE v.pid IN (SELECT pid FROM t WHERE dose > 20);
-- equal
WITH a AS (SELECT pid FROM visits), a2 AS (SELECT pid FROM a UNION ALL SELECT pid FROM a) SELECT COUNT(*) AS n FROM a2;
-- equal

-- one above the other
SELECT COUNT(*) AS n, COUNT(DISTINCT pid) AS patients FROM (SELECT pid, day FROM visits UNION ALL SELECT pid, day FROM treatments UNION ALL SELECT pid, born FROM patients);
-- equal
SELECT SUM(CLIP(n, 0, 40)) AS n, AVG(CLIP(n, 0, 40)) AS mean FROM (SELECT pid, COUNT(*) AS n FROM (SELECT pid, day FROM visits UNION ALL SELECT pid, day FROM treatments) GROUP BY pid);
-- equal

-- the first of each
SELECT town, COUNT(*) AS n, AVG(cost) AS cost FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day, cost, town, urgent) AS k FROM visits) WHERE k = 1 GROUP BY town;
-- equal
SELECT COUNT(*) AS n FROM (SELECT pid, drug FROM treatments QUALIFY ROW_NUMBER() OVER (PARTITION BY pid, drug ORDER BY dose DESC NULLS LAST, day) = 1);
-- equal
SELECT AVG(gap) AS gap FROM (SELECT a.pid, CLIP(DATE_DIFF('day', a.day, b.day), 0, 400) AS gap FROM
(SELECT pid, day FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY pid ORDER BY day, cost) = 1) AS a
JOIN (SELECT pid, MIN(day) AS day FROM treatments GROUP BY pid) AS b ON a.pid = b.pid);
-- equal

-- moments
SELECT STDDEV_POP(CLIP(n, 0, 20)) AS sd, VAR_SAMP(CLIP(n, 0, 20)) AS spread FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid);
-- equal
SELECT CORR(CLIP(n, 0, 20), CLIP(dose, 0, 400)) AS together FROM (SELECT pid, COUNT(*) AS n FROM visits GROUP BY pid) AS v
JOIN (SELECT pid, SUM(dose) AS dose FROM treatments GROUP BY pid) AS t USING (pid);
-- equal

-- refused
SELECT COUNT(*) FROM visits JOIN treatments USING (pid);
-- refused: several rows
SELECT COUNT(*) FROM visits, treatments WHERE visits.pid = treatments.pid;
-- refused: without a condition
SELECT day, COUNT(*) FROM visits JOIN patients USING (pid) GROUP BY day, born, pid;
-- refused: list of keys
SELECT COUNT(*) FROM visits JOIN patients ON visits.town = patients.sex;
-- refused: unit
SELECT COUNT(*) FROM visits JOIN towns ON visits.cost = towns.town;
-- refused: visits.cost is integer
SELECT COUNT(*) FROM (SELECT pid FROM visits LIMIT 10);
-- refused: LIMIT
SELECT COUNT(*) FROM (SELECT pid FROM visits UNION SELECT pid FROM treatments);
-- refused: UNION
SELECT COUNT(*) FROM visits WHERE cost IN (SELECT dose FROM treatments);
-- refused: protected unit
SELECT AVG(total) FROM (SELECT pid, SUM(cost) AS total FROM visits GROUP BY pid);
-- refused: CLIP(total
SELECT SUM(total) FROM (SELECT town, SUM(cost) AS total FROM visits GROUP BY town);
-- refused: goes by the unit
WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT COUNT(*) FROM a;
-- refused: b
