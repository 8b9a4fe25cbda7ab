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
-- refused: COUNT(DISTINCT patient_id)
SELECT COUNT(DISTINCT patient_id) AS people, COUNT(*) AS visits FROM visits;
-- answers
SELECT MAX(age) FROM visits;
-- refused: MAX
SELECT AVG(age), SUM(age), COUNT(age) FROM visits;
-- answers
SELECT MEDIAN(cost) FROM visits;
-- refused: MEDIAN
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
-- refused: STDDEV
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
-- refused: ROLLUP
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
-- refused: AVG(age * age) - AVG(age) * AVG(age)
SELECT AVG(age * age) - AVG(age) * AVG(age) FROM visits;
-- answers
SELECT COUNT(*) FROM visits WHERE smoker = 'yes';
-- refused: Write it as TRUE
SELECT COUNT(*) FROM visits WHERE smoker = TRUE;
-- answers
