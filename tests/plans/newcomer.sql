-- What a newcomer types in the first hour, and what happens. Checked by tests/plans/test_newcomer.py.
-- Each statement ends in a semicolon, and is followed by one line:
--   -- answers            it answers
--   -- refused: words     it is refused, and the message holds these words; the statement after it is what the message
--                         leads to, and answers

-- looking around
SELECT * FROM visits;
-- refused: Ask for COUNT(*)
SELECT COUNT(*) FROM visits;
-- answers
SELECT * FROM visits LIMIT 10;
-- refused: single rows
SELECT COUNT(*) FROM visits LIMIT 10;
-- answers
SELECT age FROM visits;
-- refused: AVG(age)
SELECT AVG(age) FROM visits;
-- answers
select count(1) from visits;
-- answers
SELECT COUNT(DISTINCT patient_id) FROM visits;
-- answers
SELECT COUNT(DISTINCT city) FROM visits;
-- answers
SELECT COUNT(DISTINCT patient_id) AS people, COUNT(*) AS visits FROM visits;
-- answers
SELECT MAX(age) FROM visits;
-- refused: MAX
SELECT AVG(age), SUM(age), COUNT(age) FROM visits;
-- answers
SELECT MEDIAN(cost) FROM visits;
-- answers
SELECT MODE(city), COUNT(*) FROM visits;
-- refused: by itself
SELECT MODE(city) FROM visits;
-- answers
SELECT AVG(cost) FROM visits;
-- answers
SELECT count(*) FROM visit;
-- refused: visits
SELECT count(*) FROM visits;
-- answers
SELECT AVG(ages) FROM visits;
-- refused: age
SELECT AVG(Age) FROM Visits;
-- answers

-- filters
SELECT COUNT(*) FROM visits WHERE city = "Leeds";
-- refused: single quotes
SELECT COUNT(*) FROM visits WHERE city = 'Leeds';
-- answers
SELECT COUNT(*) FROM visits WHERE city IN ('Leeds', 'York') AND age BETWEEN 18 AND 65;
-- answers
SELECT COUNT(*) FROM visits WHERE note LIKE '%fever%';
-- answers
SELECT COUNT(*) FROM visits WHERE LOWER(note) NOT LIKE '%cough%' OR note IS NULL;
-- answers
SELECT COUNT(*) FROM visits WHERE day >= '2024-01-01' AND day < '2024-07-01';
-- answers
SELECT COUNT(*) FROM visits WHERE day >= DATE '2024-03-01' - INTERVAL '30 days';
-- answers
SELECT COUNT(*) FROM visits WHERE at >= '2024-03-01';
-- refused: zone
SELECT COUNT(*) FROM visits WHERE at >= '2024-03-01T00:00:00Z';
-- answers
SELECT COUNT(*) FROM visits WHERE EXTRACT(year FROM day) = 2024;
-- answers
SELECT COUNT(*) FROM visits WHERE age = 'old';
-- refused: number
SELECT COUNT(*) FROM visits WHERE age >= 65;
-- answers
SELECT COUNT(*) FROM visits WHERE smoker;
-- answers
SELECT COUNT(*) FROM visits WHERE cost / age > 10;
-- answers
SELECT COUNT(*) FROM visits WHERE age > (SELECT AVG(age) FROM visits);
-- refused: subquery
SELECT COUNT(*) FROM visits WHERE age > 50;
-- answers
SELECT COUNT(*) FROM visits WHERE age = NULL;
-- answers
SELECT COUNT(*) FROM visits WHERE age IS NOT NULL;
-- answers

-- aggregates of expressions
SELECT SUM(cost * 1.2) FROM visits;
-- answers
SELECT AVG(cost / 100) AS pounds FROM visits;
-- answers
SELECT SUM(CASE WHEN smoker THEN 1 ELSE 0 END) AS smokers FROM visits;
-- answers
SELECT AVG(CASE WHEN age >= 65 THEN 1.0 ELSE 0.0 END) AS share FROM visits;
-- answers
SELECT SUM(weight) FROM visits;
-- refused: bounds
SELECT SUM(CLIP(weight, 0, 200)) FROM visits;
-- answers
SELECT AVG(weight * 2) FROM visits;
-- refused: CLIP
SELECT AVG(CLIP(weight * 2, 0, 400)) FROM visits;
-- answers
SELECT COUNT(*) FILTER (WHERE age > 65) AS old FROM visits;
-- answers
SELECT SUM(age) / COUNT(*) FROM visits;
-- answers
SELECT ROUND(AVG(cost), 2) FROM visits;
-- answers
SELECT 100.0 * COUNT(note) / COUNT(*) AS percent FROM visits;
-- answers
SELECT AVG(ABS(age - 50)) FROM visits;
-- answers
SELECT AVG(COALESCE(cost, 0)) FROM visits;
-- answers
SELECT STDDEV(age) FROM visits;
-- answers
SELECT SQRT(AVG(age * age) - AVG(age) * AVG(age)) AS sd FROM visits;
-- answers

-- groups
SELECT city, COUNT(*) FROM visits GROUP BY city;
-- answers
SELECT city, COUNT(*) FROM visits;
-- refused: GROUP BY
SELECT city, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 2 DESC;
-- answers
SELECT city AS "City", AVG(age) AS "Mean Age" FROM visits GROUP BY city ORDER BY "Mean Age" DESC LIMIT 2;
-- answers
SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING COUNT(*) > 1;
-- answers
SELECT v.city, SUM(v.cost) FROM visits AS v WHERE v.age > 20 GROUP BY v.city;
-- answers
SELECT UPPER(city) AS c, COUNT(*) FROM visits GROUP BY UPPER(city);
-- answers
SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) FROM visits GROUP BY decade ORDER BY decade;
-- answers
SELECT age, COUNT(*) FROM visits GROUP BY age;
-- answers
SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS who, COUNT(*) FROM visits GROUP BY who;
-- answers
SELECT cost, COUNT(*) FROM visits GROUP BY cost;
-- refused: FLOOR
SELECT FLOOR(cost / 1000) * 1000 AS bin, COUNT(*) FROM visits GROUP BY 1;
-- answers
SELECT DATE_TRUNC('month', day) AS month, COUNT(*) FROM visits GROUP BY month;
-- answers
SELECT EXTRACT(dow FROM day) AS weekday, COUNT(*) FROM visits GROUP BY 1;
-- answers
SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis;
-- answers
SELECT diagnosis, city, COUNT(*) FROM visits GROUP BY diagnosis, city;
-- answers
SELECT doctor, COUNT(*) FROM visits GROUP BY doctor;
-- refused: keys
SELECT doctor = 'Dr Grey' AS grey, COUNT(*) FROM visits GROUP BY 1;
-- answers
SELECT DISTINCT city FROM visits;
-- refused: GROUP BY
SELECT city FROM visits GROUP BY city;
-- answers
SELECT city, smoker, COUNT(*) FROM visits GROUP BY ROLLUP (city, smoker);
-- answers
SELECT city, smoker, COUNT(*) FROM visits GROUP BY city, smoker;
-- answers

-- habits from elsewhere
SELECT `city`, COUNT(*) FROM visits GROUP BY `city`;
-- refused: double quotes
SELECT "city", COUNT(*) FROM "visits" GROUP BY "city";
-- answers
SELECT TOP 5 city, COUNT(*) FROM visits GROUP BY city;
-- refused: LIMIT
SELECT city, COUNT(*) FROM visits GROUP BY city LIMIT 5;
-- answers
SELECT COUNT(*) OVER (PARTITION BY city) FROM visits;
-- refused: window
SELECT city, COUNT(*) FROM visits GROUP BY city;
-- answers
WITH old AS (SELECT * FROM visits WHERE age > 65) SELECT COUNT(*) FROM old;
-- answers
SELECT COUNT(*) FROM visits WHERE age > 65;
-- answers
SELECT COUNT(*) FROM visits JOIN cities ON visits.city = cities.city;
-- answers
SELECT COUNT(*) FROM visits;
-- answers
DELETE FROM visits;
-- refused: Only SELECT
SELECT /* how many? */ COUNT(*) -- rows
FROM visits;
-- answers
SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits;
-- refused: UNION
SELECT COUNT(*), COUNT(note) FROM visits;
-- answers
SELECT COUNT(*) FROM main.visits;
-- refused: schema
SELECT COUNT(*) FROM visits;
-- answers

-- cures that are pasted back
SELECT AVG(city) FROM visits;
-- refused: COUNT(city)
SELECT COUNT(city) FROM visits;
-- answers
SELECT SUM(CAST(note AS INTEGER)) FROM visits;
-- refused: SUM(CLIP(CAST(note AS INTEGER), 0, 100))
SELECT SUM(CLIP(CAST(note AS INTEGER), 0, 100)) FROM visits;
-- answers
SELECT AVG(DATE_DIFF('hour', at, TIMESTAMP '2024-06-01T00:00:00Z')) FROM visits;
-- refused: bounds = ["2000-01-01T00:00:00Z", "2030-12-31T23:59:59Z"]
SELECT AVG(CLIP(DATE_DIFF('hour', at, TIMESTAMP '2024-06-01T00:00:00Z'), 0, 100)) FROM visits;
-- answers
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id;
-- refused: COUNT(DISTINCT patient_id)
SELECT COUNT(DISTINCT patient_id), COUNT(*) FROM visits;
-- answers
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('year', at) = TIMESTAMP '2024-01-01';
-- refused: Write it as '2024-01-01'
SELECT COUNT(*) FROM visits WHERE DATE_TRUNC('year', at) = '2024-01-01';
-- answers
SELECT COUNT(*) FROM visits WHERE at >= TIMESTAMP '2024-03-01 12:00:00+00' AND at < '2024-06-01 00:00:00-07';
-- answers
SELECT COUNT(*) FROM visits WHERE at >= '2024-03-01T00:00:00+0100';
-- answers
SELECT COUNT(*) FROM visits WHERE at >= DATE '2024-03-01';
-- refused: '2024-03-01T00:00:00Z'
SELECT COUNT(*) FROM visits WHERE at >= '2024-03-01T00:00:00Z' OR CAST(at AS DATE) < day;
-- answers
EXPLAIN SELECT COUNT(*) FROM visits;
-- refused: dpcurator explain
SELECT COUNT(*) FROM visits;
-- answers
(SELECT COUNT(*) FROM visits);
-- refused: Leave out the brackets
SELECT COUNT(*) FROM visits;
-- answers
INSERT INTO visits VALUES ('p', 'Hull');
-- refused: dpcurator refresh
SELECT COUNT(*) FROM visits;
-- answers
WITH old AS (SELECT * FROM visits WHERE age > 65) SELECT AVG(cost) FROM old;
-- answers
SELECT AVG(cost) FROM visits WHERE age > 65;
-- answers
SELECT city, COUNT(*) / (SELECT COUNT(*) FROM visits) FROM visits GROUP BY city;
-- refused: a share of the whole is AVG(CASE WHEN
SELECT AVG(CASE WHEN city = 'Leeds' THEN 1 ELSE 0 END) AS leeds FROM visits;
-- answers
SELECT SUM(age * age * age * age * age * age * age * age * age * age) FROM visits;
-- refused: CAST(age * age
SELECT SUM(CAST(age * age * age * age * age * age * age * age * age * age AS DOUBLE)) FROM visits;
-- answers
SELECT CUONT(*) FROM visits;
-- refused: Did you mean COUNT?
SELECT COUNT(*) FROM visits;
-- answers
SELECT VARIANCE(age) FROM visits;
-- answers
SELECT AVG(age * age) - AVG(age) * AVG(age) FROM visits;
-- answers
SELECT COUNT(*) FROM visits WHERE smoker = 'yes';
-- refused: Write it as TRUE
SELECT COUNT(*) FROM visits WHERE smoker = TRUE;
-- answers

-- several tables: who has what
SELECT COUNT(*) FROM patients;
-- answers
SELECT city, COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM diagnoses WHERE code = 'E11') GROUP BY city;
-- answers
SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits);
-- answers
SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.patient_id = p.patient_id AND d.code LIKE 'E1%');
-- answers
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT id FROM patients WHERE sex = 'f');
-- refused: The columns are patient_id
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients WHERE sex = 'f');
-- answers
SELECT COUNT(*) FROM visits WHERE patient_id = ANY (SELECT patient_id FROM diagnoses);
-- refused: IN (SELECT
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM diagnoses);
-- answers
WITH busy AS (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3)
SELECT AVG(cost) FROM visits WHERE patient_id IN busy;
-- refused: patient_id IN (SELECT patient_id FROM busy)
WITH busy AS (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) >= 3)
SELECT AVG(cost) FROM visits WHERE patient_id IN (SELECT patient_id FROM busy);
-- answers
SELECT COUNT(*) FROM visits SEMI JOIN diagnoses USING (patient_id);
-- refused: IN (SELECT
SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM diagnoses);
-- answers
SELECT smoker, COUNT(DISTINCT patient_id) FROM visits
WHERE patient_id IN (SELECT patient_id FROM diagnoses GROUP BY patient_id HAVING COUNT(DISTINCT code) >= 2) GROUP BY smoker;
-- answers
SELECT patient_id IN (SELECT patient_id FROM diagnoses WHERE code = 'J45') AS asthma, AVG(cost) FROM visits GROUP BY asthma;
-- answers

SELECT COUNT(*) FROM visits WHERE city IN (SELECT city FROM cities WHERE region = 'North');
-- answers
SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM cities c WHERE c.city = v.city AND c.population > 200000);
-- answers

-- one number for each person
SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id HAVING COUNT(*) > 3;
-- refused: SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 3)
SELECT COUNT(*) FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING COUNT(*) > 3);
-- answers
SELECT v.patient_id, SUM(v.cost) FROM visits v WHERE v.age >= 65 GROUP BY v.patient_id HAVING COUNT(*) > 3;
-- refused: (SELECT v.patient_id FROM visits AS v WHERE v.age >= 65 GROUP BY v.patient_id HAVING COUNT(*) > 3)
SELECT COUNT(*) FROM (SELECT v.patient_id FROM visits AS v WHERE v.age >= 65 GROUP BY v.patient_id HAVING COUNT(*) > 3);
-- answers
SELECT COUNT(*) / COUNT(DISTINCT patient_id) AS visits_per_patient FROM visits;
-- answers
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t;
-- refused: AVG(CLIP(n, 0, 100))
SELECT AVG(CLIP(n, 0, 100)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t;
-- answers
SELECT AVG(total) FROM (SELECT patient_id, SUM(cost) total FROM visits GROUP BY 1) AS t WHERE total > 0;
-- refused: AVG(CLIP(total, 0, 100))
SELECT AVG(CLIP(total, 0, 100)) FROM (SELECT patient_id, SUM(cost) total FROM visits GROUP BY 1) AS t WHERE total > 0;
-- answers
SELECT MAX(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- refused: QUANTILE(CLIP(n, 0, 100), 0.95)
SELECT QUANTILE(CLIP(n, 0, 100), 0.95) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- answers
SELECT CLIP(n, 0, 10) AS n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) GROUP BY 1 ORDER BY 1;
-- answers
WITH busy AS (SELECT patient_id, COUNT(*) n FROM visits GROUP BY 1) SELECT n, COUNT(*) FROM busy GROUP BY n ORDER BY n;
-- refused: CLIP(n, 0, 10)
WITH busy AS (SELECT patient_id, COUNT(*) n FROM visits GROUP BY 1)
SELECT CLIP(n, 0, 10), COUNT(*) FROM busy GROUP BY CLIP(n, 0, 10) ORDER BY CLIP(n, 0, 10);
-- answers
WITH busy AS (SELECT patient_id, COUNT(*) n FROM visits GROUP BY 1)
SELECT CASE WHEN n > 10 THEN 'many' ELSE 'few' END AS how, COUNT(*) FROM busy GROUP BY how;
-- answers
SELECT SUM(CASE WHEN n > 3 THEN 1 ELSE 0 END) * 1.0 / COUNT(*) AS share FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id);
-- answers
SELECT COUNT(*) FILTER (WHERE n > 3), COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) t;
-- answers
SELECT CORR(n, total) FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY patient_id);
-- refused: CORR(CLIP(n, 0, 100), CLIP(total, 0, 100))
SELECT CORR(CLIP(n, 0, 100), CLIP(total, 0, 100)) FROM (SELECT patient_id, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY patient_id);
-- answers
SELECT AVG(DATE_DIFF('day', first, last)) FROM (SELECT patient_id, MIN(day) AS first, MAX(day) AS last FROM visits GROUP BY patient_id);
-- answers
SELECT COUNT(*) FROM (SELECT patient_id, STRING_AGG(city, ',') AS cities FROM visits GROUP BY patient_id) WHERE cities LIKE '%Leeds%';
-- refused: BOOL_OR
SELECT COUNT(*) FROM (SELECT patient_id, BOOL_OR(city = 'Leeds') AS leeds FROM visits GROUP BY patient_id) WHERE leeds;
-- answers
SELECT COUNT(*) FROM (SELECT patient_id, MEDIAN(cost) AS mid FROM visits GROUP BY patient_id) WHERE mid > 100;
-- refused: AVG
SELECT COUNT(*) FROM (SELECT patient_id, AVG(cost) AS mid FROM visits GROUP BY patient_id) WHERE mid > 100;
-- answers
WITH t AS (SELECT city, AVG(cost) AS mean FROM visits GROUP BY city) SELECT MAX(mean) FROM t;
-- refused: ask the inner question by itself
SELECT city, AVG(cost) AS mean FROM visits GROUP BY city;
-- answers
SELECT city, AVG(cost) FROM visits GROUP BY city HAVING AVG(cost) > (SELECT AVG(cost) FROM visits);
-- refused: write its answer here
SELECT city, AVG(cost) FROM visits GROUP BY city HAVING AVG(cost) > 120;
-- answers
SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) > 3;
-- refused: JOIN (SELECT v.patient_id
SELECT COUNT(*) FROM patients p JOIN (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS own USING (patient_id) WHERE n > 3;
-- answers

-- the first of each
SELECT city, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS rn FROM visits) t WHERE rn = 1 GROUP BY city;
-- answers
SELECT first_city, COUNT(*) FROM (SELECT patient_id, FIRST(city ORDER BY day) AS first_city FROM visits GROUP BY patient_id) GROUP BY first_city;
-- refused: ARG_MIN(x, y)
SELECT first_city, COUNT(*) FROM (SELECT patient_id, ARG_MIN(city, day) AS first_city FROM visits GROUP BY patient_id) GROUP BY first_city;
-- answers
SELECT city, COUNT(*) FROM (SELECT DISTINCT ON (patient_id) * FROM visits ORDER BY patient_id, day DESC) GROUP BY city;
-- refused: QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC) = 1
SELECT city, COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day DESC) = 1) GROUP BY city;
-- answers
SELECT city, COUNT(*) FROM (SELECT *, RANK() OVER (PARTITION BY patient_id ORDER BY day) AS rn FROM visits) t WHERE rn = 1 GROUP BY city;
-- refused: ROW_NUMBER()
SELECT city, COUNT(*) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS rn FROM visits) t WHERE rn = 1 GROUP BY city;
-- answers
SELECT city, COUNT(*) FROM visits v WHERE day = (SELECT MIN(day) FROM visits WHERE patient_id = v.patient_id) GROUP BY city;
-- refused: MIN(x) AS least
SELECT city, COUNT(*) FROM visits v JOIN (SELECT patient_id, MIN(day) AS least FROM visits GROUP BY patient_id) AS own USING (patient_id)
WHERE day = least GROUP BY city;
-- answers
SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (ORDER BY day) AS rn FROM visits) WHERE rn <= 100;
-- refused: PARTITION BY patient_id
SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY day) AS rn FROM visits) WHERE rn <= 100;
-- answers

-- tables beside each other
SELECT region, COUNT(*) FROM visits JOIN cities ON visits.city = cities.city GROUP BY region;
-- answers
SELECT region, 1000.0 * COUNT(*) / SUM(population) FROM visits JOIN cities USING (city) GROUP BY region;
-- answers
SELECT AVG(population) FROM visits v JOIN cities c ON v.city = c.city;
-- answers
SELECT cities.region, AVG(visits.cost) FROM cities JOIN visits ON visits.city = cities.city GROUP BY cities.region;
-- answers
SELECT cities.region, AVG(visits.cost) FROM cities LEFT JOIN visits ON visits.city = cities.city GROUP BY cities.region;
-- refused: visits LEFT JOIN cities ON visits.city = cities.city
SELECT cities.region, AVG(visits.cost) FROM visits LEFT JOIN cities ON visits.city = cities.city GROUP BY cities.region;
-- answers
SELECT region, COUNT(*) FROM visits NATURAL JOIN cities GROUP BY region;
-- refused: JOIN cities USING (column)
SELECT region, COUNT(*) FROM visits JOIN cities USING (city) GROUP BY region;
-- answers
SELECT region, AVG(cost), COUNT(*) FROM visits v, cities c WHERE v.city = c.city GROUP BY region;
-- refused: JOIN cities AS c ON one.column = other.column
SELECT region, AVG(cost), COUNT(*) FROM visits v JOIN cities AS c ON v.city = c.city GROUP BY region;
-- answers
SELECT region, COUNT(*) FROM cities GROUP BY region;
-- refused: its contents need no curator
SELECT region, COUNT(*) FROM visits JOIN cities USING (city) GROUP BY region;
-- answers
SELECT COUNT(DISTINCT v.patient_id) FROM visits v JOIN diagnoses d USING (patient_id) WHERE d.code = 'E11';
-- refused: (SELECT patient_id, MIN(code) AS code, MIN(day) AS day FROM diagnoses GROUP BY patient_id) AS d
SELECT COUNT(DISTINCT v.patient_id) FROM visits v
JOIN (SELECT patient_id, MIN(code) AS code, MIN(day) AS day FROM diagnoses GROUP BY patient_id) AS d USING (patient_id) WHERE d.code = 'E11';
-- answers
SELECT COUNT(DISTINCT v.patient_id) FROM visits v LEFT JOIN diagnoses d ON v.patient_id = d.patient_id WHERE d.patient_id IS NULL;
-- refused: Join one row for each person
SELECT COUNT(DISTINCT v.patient_id) FROM visits v
LEFT JOIN (SELECT patient_id, MIN(code) AS code, MIN(day) AS day FROM diagnoses GROUP BY patient_id) AS d ON v.patient_id = d.patient_id
WHERE d.patient_id IS NULL;
-- answers
SELECT COUNT(*) FROM visits JOIN (SELECT patient_id, MIN(sex) AS sex FROM patients GROUP BY patient_id) p ON patient_id = patient_id;
-- refused: visits.patient_id or p.patient_id
SELECT COUNT(*) FROM visits JOIN (SELECT patient_id, MIN(sex) AS sex FROM patients GROUP BY patient_id) p ON visits.patient_id = p.patient_id;
-- answers
SELECT v.city, COUNT(*) FROM visits v INNER JOIN diagnoses d ON d.patient_id = v.patient_id AND d.day = v.day GROUP BY v.city;
-- refused: Join one row for each person
SELECT v.city, COUNT(*) FROM visits v JOIN (SELECT patient_id, day FROM diagnoses GROUP BY patient_id, day) AS d
ON d.patient_id = v.patient_id AND d.day = v.day GROUP BY v.city;
-- answers
SELECT COUNT(*) FROM visits FULL OUTER JOIN diagnoses USING (patient_id);
-- refused: LEFT JOIN
SELECT COUNT(*) FROM visits LEFT JOIN (SELECT patient_id, MIN(code) AS code FROM diagnoses GROUP BY patient_id) AS d USING (patient_id);
-- answers

-- one above the other
SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION SELECT patient_id FROM diagnoses);
-- refused: UNION ALL; and SELECT DISTINCT around it
SELECT COUNT(*) FROM (SELECT DISTINCT patient_id FROM (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM diagnoses));
-- answers
SELECT COUNT(*) FROM (SELECT patient_id FROM visits EXCEPT SELECT patient_id FROM diagnoses);
-- refused: NOT IN
SELECT COUNT(DISTINCT patient_id) FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM diagnoses);
-- answers
SELECT AVG(cost) FROM (SELECT * FROM visits ORDER BY cost DESC LIMIT 100) t;
-- refused: Leave it out
SELECT AVG(cost) FROM (SELECT * FROM visits) t;
-- answers
SELECT AVG(cost) FROM visits TABLESAMPLE 10 PERCENT;
-- refused: TABLESAMPLE is not available. Leave it out
SELECT AVG(cost) FROM visits;
-- answers
