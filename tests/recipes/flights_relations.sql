-- Questions of flights, owned by aircraft, with airlines, airports, planes and weather as public tables, and what they
-- give at a price whose noise is 0. Checked by test_relations.py, which says what the lines after each mean.

-- cohorts
SELECT origin, COUNT(*) AS n FROM flights WHERE tailnum IN (SELECT tailnum FROM flights WHERE dest = 'SFO') GROUP BY origin;
-- equal
SELECT COUNT(*) AS n, COUNT(DISTINCT tailnum) AS aircraft FROM flights
WHERE tailnum NOT IN (SELECT tailnum FROM flights WHERE dep_delay > 60);
-- equal
SELECT carrier, SUM(distance) AS miles FROM flights AS f
WHERE EXISTS (SELECT 1 FROM flights AS g WHERE g.tailnum = f.tailnum AND g.origin = 'JFK' AND g.month = 7) GROUP BY carrier;
-- equal
SELECT month, AVG(dep_delay) AS late FROM flights AS f
WHERE NOT EXISTS (SELECT * FROM flights AS g WHERE f.tailnum = g.tailnum AND g.carrier = 'UA') GROUP BY month;
-- equal
SELECT COUNT(*) AS n FROM flights WHERE month = 1 OR tailnum IN (SELECT tailnum FROM flights WHERE dest = 'HNL');
-- equal
SELECT tailnum IN (SELECT tailnum FROM flights WHERE dest = 'LAX') AS west, COUNT(DISTINCT tailnum) AS aircraft, COUNT(*) AS n
FROM flights GROUP BY 1;
-- equal
SELECT origin, COUNT(*) FILTER (WHERE tailnum IN (SELECT tailnum FROM flights WHERE dest = 'SFO')) AS n, COUNT(*) AS of
FROM flights GROUP BY origin;
-- equal
SELECT AVG(CASE WHEN tailnum IN (SELECT tailnum FROM flights WHERE distance > 2000) THEN 1 ELSE 0 END) AS share FROM flights;
-- equal
SELECT COUNT(*) AS n FROM flights WHERE tailnum IN (SELECT tailnum FROM flights WHERE month = 1)
AND tailnum NOT IN (SELECT tailnum FROM flights WHERE month = 12 AND tailnum IN (SELECT tailnum FROM flights WHERE dest = 'ORD'));
-- equal
SELECT COUNT(*) AS n FROM flights WHERE tailnum IN (SELECT tailnum FROM flights GROUP BY tailnum HAVING COUNT(*) > 200);
-- equal

-- public tables beside
SELECT name, COUNT(*) AS n, AVG(distance) AS miles FROM flights JOIN airlines USING (carrier) GROUP BY name;
-- equal
SELECT tzone, COUNT(*) AS n, AVG(arr_delay) AS late FROM flights JOIN airports ON dest = faa GROUP BY tzone;
-- equal
SELECT COUNT(*) AS n, COUNT(faa) AS known FROM flights LEFT JOIN airports ON flights.dest = airports.faa;
-- equal
SELECT COUNT(*) AS n FROM flights LEFT JOIN airports ON dest = faa WHERE faa IS NULL;
-- equal
SELECT engine, COUNT(*) AS n, AVG(seats) AS seats FROM flights JOIN planes USING (tailnum) GROUP BY engine;
-- equal
SELECT COUNT(*) AS n, SUM(f.distance) AS miles FROM flights AS f JOIN planes AS p ON p.tailnum = f.tailnum WHERE p.year < 1990;
-- equal
SELECT FLOOR(p.year / 10) * 10 AS decade, COUNT(DISTINCT f.tailnum) AS aircraft FROM flights AS f JOIN planes AS p USING (tailnum)
WHERE p.year >= 1980 GROUP BY decade;
-- equal
SELECT o.tzone AS here, d.tzone AS there, COUNT(*) AS n
FROM flights JOIN airports AS o ON origin = o.faa JOIN airports AS d ON dest = d.faa GROUP BY o.tzone, d.tzone;
-- equal
SELECT flights.origin, AVG(dep_delay) AS late, COUNT(*) AS n
FROM flights JOIN weather ON flights.origin = weather.origin AND flights.time_hour = weather.time_hour
WHERE precip > 0 GROUP BY flights.origin;
-- equal
SELECT AVG(CLIP(w.temp, 0, 110)) AS temp FROM flights AS f LEFT JOIN weather AS w USING (origin, time_hour);
-- equal
SELECT name, engine, COUNT(*) AS n FROM flights JOIN airlines USING (carrier) JOIN planes USING (tailnum) GROUP BY name, engine;
-- equal
SELECT name, COUNT(*) AS n FROM airlines RIGHT JOIN flights ON airlines.carrier = flights.carrier WHERE month = 2 GROUP BY name;
-- equal
SELECT tz, AVG(CLIP(n, 0, 1000)) AS flights FROM (SELECT tailnum, dest, COUNT(*) AS n FROM flights GROUP BY tailnum, dest) AS f
JOIN airports ON f.dest = airports.faa GROUP BY tz;
-- equal

-- one number for each aircraft
SELECT AVG(CLIP(n, 0, 1000)) AS flights, COUNT(*) AS aircraft FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum);
-- equal
WITH flown AS (SELECT tailnum, SUM(distance) AS miles, AVG(air_time) AS air FROM flights GROUP BY tailnum)
SELECT SUM(CLIP(miles, 0, 2000000)) AS miles, AVG(air) AS air FROM flown;
-- equal
SELECT first, COUNT(*) AS n FROM (SELECT tailnum, MIN(month) AS first, MAX(month) AS last FROM flights GROUP BY tailnum)
WHERE last = 12 GROUP BY first;
-- equal
SELECT places, COUNT(*) AS n FROM (SELECT tailnum, CLIP(COUNT(DISTINCT dest), 0, 9) AS places FROM flights GROUP BY tailnum)
GROUP BY places;
-- equal
SELECT COUNT(*) AS n FROM (SELECT tailnum, BOOL_OR(dest = 'HNL') AS far, BOOL_AND(origin = 'EWR') AS newark FROM flights GROUP BY tailnum)
WHERE far AND newark;
-- equal
SELECT start, COUNT(*) AS n FROM (SELECT tailnum, ARG_MIN(origin, time_hour) AS start FROM flights GROUP BY tailnum) GROUP BY start;
-- plain: SELECT start, COUNT(*) FROM (SELECT tailnum, FIRST(origin ORDER BY time_hour, origin) AS start FROM flights GROUP BY tailnum) GROUP BY start
SELECT month, AVG(CLIP(n, 0, 200)) AS flights, COUNT(*) AS n FROM (SELECT tailnum, month, COUNT(*) AS n FROM flights GROUP BY tailnum, month)
GROUP BY month;
-- equal
SELECT COUNT(*) AS n FROM (SELECT DISTINCT tailnum, dest FROM flights WHERE month <= 6);
-- equal
SELECT origin, COUNT(*) AS n FROM (SELECT DISTINCT tailnum, origin, carrier FROM flights) GROUP BY origin;
-- equal
SELECT COUNT(*) AS n FROM (SELECT tailnum, COUNT(*) FILTER (WHERE dep_delay IS NULL) AS missed, COUNT(*) AS n FROM flights GROUP BY tailnum
HAVING COUNT(*) >= 100) WHERE missed = 0;
-- equal
WITH busy AS (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum)
SELECT AVG(CLIP(n, 0, 600)) AS flights FROM busy WHERE tailnum NOT IN (SELECT tailnum FROM busy WHERE n > 300);
-- equal
WITH a AS (SELECT * FROM flights WHERE month <= 6), b AS (SELECT tailnum, MAX(dep_delay) AS worst FROM a GROUP BY tailnum),
c AS (SELECT * FROM b WHERE worst > 120) SELECT COUNT(*) AS n, AVG(worst) AS worst FROM c;
-- equal
SELECT AVG(CLIP(most, 0, 100)) AS most FROM (SELECT tailnum, MAX(n) AS most FROM
(SELECT tailnum, date, COUNT(*) AS n FROM flights GROUP BY tailnum, date) GROUP BY tailnum);
-- equal
SELECT COUNT_IF(n > 100) AS busy, SUM(CLIP(n, 0, 600)) AS n FROM (SELECT tailnum, COUNT_IF(dep_delay > 0) AS n FROM flights GROUP BY tailnum);
-- equal

-- beside each other
SELECT first, AVG(dep_delay) AS late, COUNT(*) AS n FROM flights
JOIN (SELECT tailnum, MIN(month) AS first FROM flights GROUP BY tailnum) AS p USING (tailnum) GROUP BY first;
-- equal
SELECT origin, COUNT(*) AS n, COUNT(worst) AS known FROM flights LEFT JOIN
(SELECT tailnum, MAX(arr_delay) AS worst FROM flights WHERE month = 7 GROUP BY tailnum) AS p ON p.tailnum = flights.tailnum GROUP BY origin;
-- equal
SELECT COUNT(*) AS n, AVG(CLIP(k, 0, 200)) AS k FROM flights AS f
JOIN (SELECT tailnum, month, COUNT(*) AS k FROM flights GROUP BY tailnum, month) AS p ON p.month = f.month AND f.tailnum = p.tailnum;
-- equal
WITH p AS (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum)
SELECT COUNT(*) AS n, SUM(CLIP(a.n + b.n, 0, 2000)) AS sum FROM p AS a JOIN p AS b ON a.tailnum = b.tailnum;
-- equal
SELECT COUNT(*) AS n FROM (SELECT tailnum, COUNT(*) AS n FROM flights WHERE month = 1 GROUP BY tailnum) AS a
RIGHT JOIN flights ON a.tailnum = flights.tailnum WHERE n IS NULL;
-- equal
SELECT engine, AVG(CLIP(n, 0, 600)) AS flights FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum) AS f JOIN planes USING (tailnum)
GROUP BY engine;
-- equal

-- one above the other
SELECT place, COUNT(*) AS n FROM (SELECT tailnum, origin AS place FROM flights UNION ALL SELECT tailnum, dest FROM flights)
WHERE place = 'JFK' OR place = 'LGA' GROUP BY place;
-- refused: keys
SELECT place = 'JFK' AS jfk, COUNT(*) AS n FROM (SELECT tailnum, origin AS place FROM flights UNION ALL SELECT tailnum, dest FROM flights)
GROUP BY 1;
-- equal
WITH ends AS (SELECT tailnum, dep_delay AS late FROM flights UNION ALL SELECT tailnum, arr_delay FROM flights)
SELECT AVG(late) AS late, COUNT(*) AS n, COUNT(late) AS known FROM ends;
-- equal
SELECT SUM(CLIP(n, 0, 5000)) AS n FROM (SELECT tailnum, COUNT(*) AS n FROM (SELECT tailnum, month FROM flights WHERE month = 1
UNION ALL SELECT tailnum, month FROM flights WHERE month = 2 UNION ALL SELECT tailnum, 3 AS month FROM flights) GROUP BY tailnum);
-- equal
SELECT COUNT(*) AS n FROM flights WHERE tailnum IN (SELECT tailnum FROM flights WHERE dest = 'HNL' UNION ALL SELECT tailnum FROM flights WHERE dest = 'ANC');
-- equal

-- the first of each
SELECT origin, COUNT(*) AS n, AVG(distance) AS miles FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY tailnum ORDER BY time_hour, flight) AS k FROM flights)
WHERE k = 1 GROUP BY origin;
-- equal
SELECT AVG(distance) AS miles FROM (SELECT * FROM flights QUALIFY ROW_NUMBER() OVER (PARTITION BY tailnum ORDER BY time_hour DESC, flight DESC) = 1);
-- equal
SELECT month, COUNT(*) AS n, AVG(distance) AS miles FROM (SELECT tailnum, month, distance, ROW_NUMBER() OVER (PARTITION BY tailnum, month ORDER BY time_hour, flight) AS k
FROM flights) WHERE k <= 2 GROUP BY month;
-- equal
SELECT COUNT(*) AS n FROM (SELECT tailnum, carrier, COUNT(*) AS m FROM flights GROUP BY tailnum, carrier
QUALIFY ROW_NUMBER() OVER (PARTITION BY tailnum ORDER BY COUNT(*) DESC, carrier) = 1) WHERE carrier = 'UA';
-- equal
SELECT AVG(late) AS late FROM (SELECT tailnum, dep_delay AS late FROM flights QUALIFY ROW_NUMBER() OVER (PARTITION BY tailnum
ORDER BY dep_delay DESC NULLS LAST, time_hour) = 1);
-- equal

-- moments
SELECT VAR_POP(CLIP(n, 0, 600)) AS spread, STDDEV_SAMP(CLIP(n, 0, 600)) AS sd FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum);
-- equal
SELECT CORR(distance, air_time) AS together FROM flights WHERE tailnum IN (SELECT tailnum FROM flights WHERE dest = 'SFO');
-- equal
SELECT engine, STDDEV_POP(distance) AS sd, AVG(distance) AS miles FROM flights JOIN planes USING (tailnum) GROUP BY engine;
-- equal
SELECT COVAR_POP(late, miles) AS both, REGR_SLOPE(late, miles) AS slope FROM
(SELECT tailnum, AVG(dep_delay) AS late, AVG(distance) AS miles FROM flights GROUP BY tailnum);
-- equal

-- refused
SELECT COUNT(*) FROM flights JOIN flights AS other USING (tailnum);
-- refused: several rows
SELECT COUNT(*) FROM flights CROSS JOIN airports;
-- refused: CROSS
SELECT COUNT(*) FROM flights NATURAL JOIN airlines;
-- refused: NATURAL
SELECT COUNT(*) FROM flights FULL JOIN airlines USING (carrier);
-- refused: FULL
SELECT COUNT(*) FROM flights JOIN airports ON dest = faa AND lat > 40;
-- refused: equalities
SELECT COUNT(*) FROM airports;
-- refused: public
SELECT AVG(CLIP(n, 0, 10000)) FROM (SELECT dest, COUNT(*) AS n FROM flights GROUP BY dest);
-- refused: goes by the unit
SELECT COUNT(*) FROM flights WHERE dep_delay > (SELECT AVG(g.dep_delay) FROM flights AS g WHERE g.tailnum = flights.tailnum);
-- refused: subquery
SELECT COUNT(*) FROM (SELECT tailnum, ROW_NUMBER() OVER (PARTITION BY dest ORDER BY time_hour) AS k FROM flights) WHERE k = 1;
-- refused: PARTITION BY
SELECT COUNT(*) FROM flights JOIN planes USING (tailnum) WHERE year < 2000;
-- refused: year
SELECT COUNT(*) FROM flights JOIN weather USING (origin);
-- refused: 1,000
SELECT AVG(n) FROM (SELECT tailnum, COUNT(*) AS n FROM flights GROUP BY tailnum);
-- refused: CLIP(n
