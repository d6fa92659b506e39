CREATE DATABASE shop
USE shop
CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT NOT NULL, address VARCHAR(200) NOT NULL, status VARCHAR(20) NOT NULL DEFAULT 'new', amount DECIMAL(10,2) NOT NULL, created_at TIMESTAMP(6) NOT NULL DEFAULT '2026-01-01 00:00:00', KEY customer (customer))
INSERT INTO orders (customer, address, amount) VALUES (1, 'Main St', 12.5), (2, 'It\'s \"here\"', '7'), (1, "double", 3.005), (3, 'Zed', 100), (2, 'alpha', 0.99)
SELECT * FROM orders
SELECT ID, Customer FROM orders ORDER BY id
SELECT id, amount*2, SUM(amount) OVER (ORDER BY id) s FROM orders ORDER BY id DESC LIMIT 1,2
SELECT customer, COUNT(*), SUM(amount), AVG(amount), MAX(address), MIN(amount), GROUP_CONCAT(address ORDER BY id SEPARATOR '; ') FROM orders GROUP BY customer HAVING COUNT(*) > 1 ORDER BY customer
SELECT id, status, address = 'MAIN ST' eq FROM orders
SELECT address FROM orders ORDER BY address
SELECT DISTINCT customer FROM orders ORDER BY customer DESC
INSERT INTO orders (id, customer, address, amount) VALUES (1, 9, 'dup', 1)
INSERT INTO orders (id, customer, address, amount) VALUES (1, 9, 'dup', 1) ON DUPLICATE KEY UPDATE amount = amount + VALUES(amount), address = CONCAT(address, '!')
INSERT INTO orders (id, customer, address, amount) VALUES (1, 9, 'dup', 1) AS n ON DUPLICATE KEY UPDATE amount = n.amount
REPLACE INTO orders (id, customer, address, amount) VALUES (2, 5, 'replaced', 1)
SELECT * FROM orders
SELECT nope FROM orders
SELECT o.nope FROM orders o
SELECT id FROM orders WHERE nope = 1
SELECT id FROM orders ORDER BY nope
SELECT id FROM orders GROUP BY nope
SELECT COUNT(*) FROM orders HAVING nope > 1
SELECT x.id FROM orders
SELECT a.id FROM orders a JOIN orders b ON a.nope = b.id
SELECT id FROM orders a JOIN orders b ON a.id = b.id
SELECT * FROM orders a JOIN orders a ON 1
SELECT * FROM nope
SELECT * FROM x.y
SELECT foo(1)
SELECT CONCAT()
SELECT NULLIF(1)
INSERT INTO orders (customer) VALUES (1)
INSERT INTO orders (customer, address, amount) VALUES (NULL, 'x', 1)
INSERT INTO orders (customer, address, amount) VALUES ('abc', 'x', 1)
INSERT INTO orders (customer, address, amount) VALUES ('12abc', 'x', 1)
INSERT INTO orders (customer, address, amount) VALUES (99999999999, 'x', 1)
INSERT INTO orders (customer, address, amount) VALUES (1, REPEAT('x', 201), 1)
INSERT INTO orders (customer, address, amount) VALUES (1, 'x', 1e12)
INSERT INTO orders (customer, address, amount, created_at) VALUES (1, 'x', 1, 'yesterday')
INSERT INTO orders (customer, address, amount) VALUES (1, 'x')
INSERT INTO orders (customer, nope) VALUES (1, 'x')
INSERT INTO orders (customer, customer) VALUES (1, 1)
INSERT INTO nope VALUES (1)
UPDATE orders SET nope = 1
UPDATE nope SET a = 1
DELETE FROM nope
SELECT 1+1, 'abc', 7/2, 7 DIV 2, 7 MOD 2, 1/3, 0.1+0.2, 5 <=> NULL, NULL <=> NULL, 'a'='A', CONCAT('a',1,1.50), 1=1.0, '1'=1, '10'>9
SELECT 1.5*2, 1.50+1, 2.5-0.55, 10/4, 10.00/3, 1e3, 1.5e-3, .5, -5, -(-5), 5 % 3, -7 % 3, 7.5 % 2, 7 / 0, 7 DIV 0, 7 % 0
SELECT 3 > 2 AND 1, 0 OR NULL, NOT 1, NOT 0, 1 XOR 1, 1 XOR 0, NULL AND 0, NULL IS NULL, 1 IS NOT NULL, 1 IN (1,2), 3 NOT IN (1,2), 2 BETWEEN 1 AND 3, 5 & 3, 5 | 3, 5 ^ 3, 1 << 4, 16 >> 2, ~0 & 255
SELECT 'abc' LIKE 'A%', 'a_c' LIKE 'a\_c', 'abc' LIKE 'a\_c', 'a%c' LIKE 'a|%c' ESCAPE '|', 'abc' NOT LIKE 'b%'
SELECT IF(1,'a','b'), COALESCE(NULL, 3), IFNULL(NULL,'x'), NULLIF(1,1), NULLIF(1,2), GREATEST(1,5,3), LEAST('b','a'), CASE WHEN 1=2 THEN 'x' ELSE 'y' END, CASE 3 WHEN 3 THEN 'three' END, ISNULL(NULL), ELT(2,'a','b'), FIELD('b','a','b')
SELECT LEFT('abc',2), RIGHT('abc',2), SUBSTRING('abcdef',2,3), SUBSTRING('abcdef',-3), SUBSTR('abc' FROM 2), MID('abcdef',2,2), SUBSTRING_INDEX('www.a.b','.',2), LOCATE('b','abc'), INSTR('abc','c'), POSITION('c' IN 'abc'), REPLACE('aXa','X','-'), LPAD('5',3,'0'), RPAD('5',3,'0'), TRIM('  x '), TRIM(LEADING 'x' FROM 'xxa'), LTRIM('  a'), REPEAT('ab',3), REVERSE('abc'), UPPER('ab'), LOWER('AB'), LENGTH('äb'), CHAR_LENGTH('äb'), ASCII('a'), HEX('ab'), HEX(255), CONCAT_WS(',','a',NULL,'b'), SPACE(2), STRCMP('a','b'), FIND_IN_SET('b','a,b'), INSERT('abcd',2,2,'XY'), QUOTE('a\'b'), SHA2('a',256), CRC32('MySQL')
SELECT CAST('12.7' AS SIGNED), CAST(12.7 AS SIGNED), CAST(5 AS CHAR), CAST('5.678' AS DECIMAL(10,2)), CAST('2026-01-02 03:04:05.678' AS DATETIME), CAST('2026-01-02 03:04:05.678' AS DATETIME(3)), CAST('2026-01-02 03:04:05' AS DATE), CAST('2026-01-02 03:04:05' AS TIME), CONVERT(5, CHAR), CONVERT('a' USING utf8mb4), CAST('abc' AS CHAR(2)), CAST(1.5 AS DECIMAL(5,3)), CAST('5' AS UNSIGNED), DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00'
SELECT ROUND(2.555,2), ROUND(2.5), ROUND(-2.5), ROUND(1234.567,-2), TRUNCATE(1.999,2), FLOOR(-1.5), CEIL(1.2), CEILING(1.0), ABS(-5), ABS(-5.50), SIGN(-3), MOD(10,3), POW(2,10), SQRT(16), FORMAT(1234567.891, 2), BIN(5), OCT(8), CONV('ff',16,10), LOG2(8), EXP(0), PI()
SELECT DATE_ADD('2026-01-31', INTERVAL 1 MONTH), DATE_SUB('2026-01-01', INTERVAL 1 SECOND), '2026-01-01' + INTERVAL 1 DAY, DATE('2026-01-01 10:00:00'), TIME('2026-01-01 10:00:00'), YEAR('2026-02-03'), MONTH('2026-02-03'), DAY('2026-02-03'), HOUR('10:11:12'), MINUTE('10:11:12'), SECOND('10:11:12'), QUARTER('2026-05-01'), DAYOFWEEK('2026-02-03'), WEEKDAY('2026-02-03'), DAYOFYEAR('2026-02-03'), DAYNAME('2026-02-03'), MONTHNAME('2026-02-03'), LAST_DAY('2026-02-03'), DATEDIFF('2026-02-03','2026-01-01'), TIMEDIFF('10:00:00','09:30:00'), TO_DAYS('2026-01-01'), TIME_TO_SEC('01:00:01'), SEC_TO_TIME(3661)
SELECT TIMESTAMPDIFF(SECOND, '2026-01-01', '2026-01-02'), TIMESTAMPDIFF(MONTH, '2026-01-31', '2026-03-01'), TIMESTAMPADD(MINUTE, 5, '2026-01-01 00:00:00'), DATE_FORMAT('2026-02-03 04:05:06.789', '%Y-%m-%d %H:%i:%s.%f %W %M %j %a %b %e %c %p %h %T %r %y'), EXTRACT(YEAR FROM '2026-02-03'), ADDDATE('2026-01-01', 5), SUBDATE('2026-01-01', 5), ADDTIME('10:00:00','00:30:00'), MICROSECOND('10:00:00.123456'), CONVERT_TZ('2026-01-01 12:00:00','+00:00','+02:00')
SELECT DATE_ADD('2026-01-01 10:00:00', INTERVAL 90 MINUTE), DATE_ADD(DATE '2026-01-01', INTERVAL 1 HOUR), DATE_ADD(DATE '2026-01-01', INTERVAL 1 WEEK), DATE_ADD(CAST('2026-01-01 00:00:00' AS DATETIME(3)), INTERVAL 1 DAY)
SELECT UNIX_TIMESTAMP('2026-03-01 10:00:00'), UNIX_TIMESTAMP('2026-03-01 10:00:00.25'), FROM_UNIXTIME(1772359200), FROM_UNIXTIME(1772359200.5), FROM_UNIXTIME(1772359200, '%Y')
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i+1 FROM n WHERE i < 5) SELECT * FROM n
WITH a AS (SELECT 1 AS x), b(y) AS (SELECT x + 1 FROM a) SELECT * FROM a, b
INSERT INTO orders (customer, address, amount) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i+1 FROM n WHERE i < 5) SELECT i, CONCAT('a ', i), i*1.5 FROM n
SELECT id, customer, address, amount FROM orders
SELECT o.id, x.n FROM orders o JOIN (SELECT customer c, COUNT(*) n FROM orders GROUP BY customer) x ON x.c=o.customer WHERE x.n > 1 ORDER BY o.id
SELECT o.id, p.id FROM orders o LEFT JOIN orders p ON p.id = o.id + 5 ORDER BY o.id
SELECT id, (SELECT COUNT(*) FROM orders p WHERE p.customer = o.customer) FROM orders o WHERE EXISTS (SELECT 1 FROM orders q WHERE q.customer = o.customer AND q.id <> o.id) ORDER BY id
SELECT customer, SUM(amount) total FROM orders GROUP BY customer ORDER BY total DESC, customer
SELECT customer c, COUNT(*) FROM orders WHERE amount > 1 GROUP BY c ORDER BY 2 DESC, 1
SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id) rn, RANK() OVER (ORDER BY customer) r, LAG(id) OVER (ORDER BY id) l FROM orders ORDER BY id
SELECT 1 UNION SELECT 2 UNION ALL SELECT 2 ORDER BY 1 DESC
(SELECT 1 AS a) UNION (SELECT 5) ORDER BY a DESC LIMIT 1
SELECT 'a' AS x UNION ALL SELECT 5
SELECT 1.5 AS x UNION ALL SELECT 2
SELECT 1, 2 UNION SELECT 1
UPDATE orders SET amount = amount + 1, status = 'paid' WHERE customer = 1 ORDER BY id LIMIT 2
UPDATE orders o JOIN (SELECT 5 AS c) x ON x.c = o.customer SET o.status = 'five'
DELETE o FROM orders o JOIN orders p ON p.id = o.id WHERE p.customer = 2
DELETE FROM orders WHERE amount < 5 ORDER BY id DESC LIMIT 1
SELECT * FROM orders ORDER BY id
SELECT COUNT(*), COUNT(DISTINCT customer), SUM(customer), AVG(customer), MIN(created_at), SUM(id) FROM orders WHERE id > 1000
CREATE TABLE k (a INT, b INT, v TEXT, PRIMARY KEY (a,b))
INSERT INTO k VALUES (1,2,'x'),(1,1,'y')
INSERT INTO k VALUES (1,2,'z')
INSERT IGNORE INTO k VALUES (1,2,'z'), (3,3,'n')
SELECT * FROM k
SELECT * FROM k WHERE (a, b) IN ((1,2),(3,3)) ORDER BY a
SELECT * FROM k NATURAL JOIN (SELECT 1 AS a, 'q' AS w) z
SELECT * FROM k JOIN (SELECT 1 AS a, 'q' AS w) z USING (a) ORDER BY b
CREATE TABLE k (a INT)
CREATE TABLE d2 (a INT, a INT)
CREATE TABLE d3 (a INT AUTO_INCREMENT)
CREATE TABLE d4 (a INT PRIMARY KEY, PRIMARY KEY (a))
CREATE TABLE d5 (a INT, KEY (b))
CREATE TABLE nodb.d6 (a INT)
CREATE DATABASE shop
DROP DATABASE nodb
DROP TABLE nope
ALTER TABLE k ADD COLUMN c INT NOT NULL DEFAULT 7 AFTER a, DROP COLUMN v
SELECT * FROM k
ALTER TABLE k DROP COLUMN zz
ALTER TABLE k ADD KEY kk (b), ADD KEY kk (a)
ALTER TABLE k RENAME COLUMN c TO d
ALTER TABLE k MODIFY d VARCHAR(5) NOT NULL
SELECT * FROM k
DESCRIBE k
SHOW COLUMNS FROM k
SHOW TABLES
SHOW TABLES LIKE 'o%'
SHOW TABLES FROM nodb
RENAME TABLE k TO kk
SELECT COUNT(*) FROM kk
TRUNCATE TABLE kk
SELECT COUNT(*) FROM kk
CREATE TABLE t (id INT UNSIGNED NOT NULL AUTO_INCREMENT, e ENUM('x','y') DEFAULT 'x', s SET('a','b'), d DATE, dt DATETIME, dt3 DATETIME(3), ti TIME, y YEAR, f FLOAT, db DOUBLE, b BOOL, bl BLOB, j JSON, c CHAR(5), u INT UNSIGNED, PRIMARY KEY (id), UNIQUE KEY uq (c))
INSERT INTO t (e, s, d, dt, dt3, ti, y, f, db, b, bl, j, c, u) VALUES ('Y', 'b,a', '2026-01-02 10:00:00', '2026-01-02', '2026-01-02 03:04:05.6789', '25:10:00', 2026, 1.5, 2.25, TRUE, 'blob', '{"a": 1}', 'abc', 5)
SELECT * FROM t
INSERT INTO t (e) VALUES ('z')
INSERT INTO t (u) VALUES (-1)
INSERT INTO t (c) VALUES ('toolong')
INSERT INTO t (c) VALUES ('ABC')
INSERT INTO t (d) VALUES ('2026-02-30')
INSERT INTO t () VALUES ()
INSERT INTO t (id) VALUES (100)
INSERT INTO t (id) VALUES (NULL), (0), (DEFAULT)
SELECT id, LAST_INSERT_ID() FROM t ORDER BY id
SELECT d + INTERVAL 1 DAY, dt < '2026-01-03', d = '2026-01-02', dt = '2026-01-02', dt3 > '2026-01-02 03:04:05.678', YEAR(d), dt3 = CAST('2026-01-02 03:04:05.679' AS DATETIME(6)) FROM t WHERE id = 1
SELECT e, e = 'y', s, c LIKE 'AB%', b + 1, f * 2, db / 2, u - 1, j FROM t WHERE id = 1
SHOW CREATE DATABASE nodb
SELECT COUNT(*) c FROM t WHERE dt IS NULL GROUP BY dt
SELECT MAX(id), MIN(d), MAX(dt3) FROM t
SELECT @a := 1, @b := @a + 1
SELECT @a, @b, @c
SELECT id INTO @m FROM t WHERE id = 100
SELECT @m
SELECT id INTO @m FROM t
SELECT SUM(x), AVG(x) FROM (SELECT 1.5 AS x UNION ALL SELECT 2.25) s
SELECT FOUND_ROWS()
SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY id LIMIT 1
SELECT FOUND_ROWS()
SELECT ROW_COUNT()
DELETE FROM t WHERE id = 100
SELECT ROW_COUNT()
SELECT JSON_EXTRACT('{"a": 5}', '$.a'), JSON_UNQUOTE(JSON_EXTRACT('{"a": "x"}', '$.a'))
SELECT * FROM t LIMIT 0
SELECT 5 LIMIT 0
SELECT id FROM t WHERE c = 'abc ' AND id=1
SELECT DATABASE(), SCHEMA(), USER(), CURRENT_USER()
SELECT * FROM (SELECT 1)
SELECT MAX(id) FROM t WHERE MAX(id) > 1
SELECT id, id FROM t LIMIT 1
SELECT t.*, 1 AS one FROM kk t LIMIT 1
SELECT (1,2) = (1,2), ROW(1,2) = (1,3)
SELECT 1 FROM DUAL WHERE 1=0
SELECT COUNT(*) FROM DUAL
SELECT 'a' 'b' AS c, "x" y
SELECT 1 = 1 = 1, 2 + 3 * 4, (2 + 3) * 4
SELECT !1, ! 0, NOT 1 + 1
SELECT 1 2
SELECT * FROM
SELECT FROM t
SELECT a FROM t WHER a = 1
INSERT INTO t VALUES (1
DROP DATABASE shop
CREATE DATABASE shop
USE shop
CREATE TABLE customers (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(50) NOT NULL, city VARCHAR(50), born DATE)
CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, customer_id INT NOT NULL, total DECIMAL(8,2), placed DATETIME)
INSERT INTO customers (name, city, born) VALUES ('Ann', 'Oslo', '1990-05-01'), ('Bob', 'Rome', '1985-12-24'), ('Cid', NULL, NULL), ('dora', 'oslo', '2000-02-29')
INSERT INTO orders (customer_id, total, placed) VALUES (1, 10.50, '2026-01-01 10:00:00'), (1, 20, '2026-01-02 11:30:00'), (2, 5.25, '2026-01-02 12:00:00'), (4, 99.99, '2026-02-01 00:00:00')
SELECT c.name, COUNT(o.id) AS n, COALESCE(SUM(o.total), 0) AS total FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name ORDER BY total DESC, c.name
SELECT city, COUNT(*) FROM customers GROUP BY city ORDER BY city
SELECT DISTINCT city FROM customers ORDER BY city
SELECT name FROM customers WHERE city = 'OSLO' ORDER BY name DESC
SELECT name FROM customers WHERE name LIKE '%O%' ORDER BY name
SELECT name, YEAR(born), TIMESTAMPDIFF(YEAR, born, '2026-03-01') AS age FROM customers ORDER BY born IS NULL, born
SELECT DATE(placed) AS d, SUM(total), ROUND(AVG(total), 2) FROM orders GROUP BY DATE(placed) ORDER BY d
SELECT DATE_FORMAT(placed, '%Y-%m') m, COUNT(*) FROM orders GROUP BY m ORDER BY m
SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)
SELECT name FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id AND o.total > 50)
SELECT * FROM orders WHERE total = (SELECT MAX(total) FROM orders)
SELECT o.*, c.name FROM orders o INNER JOIN customers c ON c.id = o.customer_id WHERE c.city = 'Oslo' ORDER BY o.id
SELECT id, total, total * 1.25 AS vat, total / 3, total % 3, -total FROM orders ORDER BY id
SELECT id, total, SUM(total) OVER (ORDER BY id) run, AVG(total) OVER (PARTITION BY customer_id) a, FIRST_VALUE(total) OVER (ORDER BY id DESC) f, NTILE(2) OVER (ORDER BY id) nt, DENSE_RANK() OVER (ORDER BY customer_id) dr, LEAD(total, 1, 0) OVER (ORDER BY id) nx FROM orders ORDER BY id
SELECT SUM(total) OVER w FROM orders WINDOW w AS (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
WITH t AS (SELECT customer_id, SUM(total) s FROM orders GROUP BY customer_id) SELECT c.name, t.s FROM t JOIN customers c ON c.id = t.customer_id ORDER BY t.s
SELECT CASE WHEN total > 15 THEN 'big' WHEN total > 7 THEN 'mid' ELSE 'small' END AS size, COUNT(*) FROM orders GROUP BY size ORDER BY size
SELECT IFNULL(city, 'none') c FROM customers ORDER BY c
SELECT GROUP_CONCAT(name) FROM customers WHERE id < 3
SELECT MAX(name), MIN(name), MAX(born), MIN(total), MAX(placed) FROM customers JOIN orders ON customers.id = orders.customer_id
SELECT COUNT(city), COUNT(DISTINCT city, name), SUM(id > 2), SUM(city = 'Oslo') FROM customers
SELECT name FROM customers ORDER BY RAND() LIMIT 0
SELECT name FROM customers ORDER BY FIELD(id, 3, 1, 2, 4)
SELECT name n FROM customers HAVING n > 'b' ORDER BY n
SELECT UPPER(name), LENGTH(name), CONCAT(name, ' (', IFNULL(city, '-'), ')') FROM customers ORDER BY id
SELECT * FROM customers WHERE born BETWEEN '1985-01-01' AND '1995-01-01' ORDER BY id
SELECT * FROM orders WHERE placed >= '2026-01-02' AND placed < '2026-01-03' ORDER BY id
SELECT * FROM orders WHERE placed > '2026-01-02 11:30:00' ORDER BY id
SELECT * FROM orders WHERE placed = '2026-02-01'
SELECT * FROM orders WHERE DATE(placed) = '2026-01-02' ORDER BY id
SELECT * FROM orders WHERE placed < DATE_ADD('2026-01-01', INTERVAL 1 DAY)
SELECT placed + INTERVAL 1 MONTH, placed - INTERVAL 90 MINUTE, DATE(placed) + INTERVAL 1 DAY FROM orders WHERE id = 1
SELECT DATEDIFF(placed, '2025-12-31'), DAYNAME(placed), HOUR(placed), DATE_FORMAT(placed, '%d.%m.%y') FROM orders ORDER BY id
SELECT * FROM customers WHERE city IS NULL OR city <> 'Rome' ORDER BY id
SELECT * FROM customers WHERE city <=> NULL
SELECT * FROM orders WHERE total IN (20, '5.25') ORDER BY id
SELECT * FROM orders WHERE id = '2'
SELECT * FROM orders WHERE customer_id = 1 AND total > 15 OR id = 4 ORDER BY id
SELECT * FROM orders ORDER BY customer_id DESC, total LIMIT 2 OFFSET 1
SELECT a.id, b.id FROM orders a, orders b WHERE a.id < b.id AND a.customer_id = b.customer_id
SELECT * FROM orders CROSS JOIN (SELECT 1 AS one) x ORDER BY id LIMIT 1
SELECT o.id FROM orders o RIGHT JOIN customers c ON o.customer_id = c.id ORDER BY o.id, c.id
UPDATE orders SET total = total * 2 WHERE customer_id = (SELECT id FROM customers WHERE name = 'Bob')
UPDATE orders o, customers c SET o.total = 1 WHERE c.id = o.customer_id AND c.name = 'dora'
UPDATE customers SET city = UPPER(city), name = CONCAT(name, '!') WHERE id IN (1, 3)
UPDATE customers SET id = 10 WHERE id = 3
UPDATE customers SET name = NULL WHERE id = 1
UPDATE customers SET id = 1 WHERE id = 2
SELECT * FROM customers ORDER BY id
DELETE FROM orders WHERE customer_id NOT IN (1, 2)
SELECT * FROM orders ORDER BY id
INSERT INTO customers SET name = 'Eve', city = DEFAULT
INSERT INTO customers VALUES (NULL, 'Fay', 'Bonn', '1999-09-09'), (DEFAULT, 'Gus', NULL, NULL)
SELECT LAST_INSERT_ID()
INSERT INTO orders (customer_id, total) SELECT id, 7 FROM customers WHERE city = 'Bonn'
SELECT * FROM orders ORDER BY id
CREATE TABLE counters (name VARCHAR(10) PRIMARY KEY, hits INT NOT NULL DEFAULT 0)
INSERT INTO counters (name, hits) VALUES ('a', 1) ON DUPLICATE KEY UPDATE hits = hits + 1
INSERT INTO counters (name, hits) VALUES ('A', 1), ('b', 5) ON DUPLICATE KEY UPDATE hits = hits + VALUES(hits)
SELECT * FROM counters
INSERT INTO counters VALUES ('a', 3)
REPLACE INTO counters VALUES ('a', 3), ('c', 4)
SELECT * FROM counters ORDER BY hits DESC
CREATE TABLE n (i TINYINT, u TINYINT UNSIGNED, s SMALLINT, b BIGINT UNSIGNED, f FLOAT, d DOUBLE, x DECIMAL(5,2), v VARCHAR(3), c CHAR(3), t TEXT, bo BOOLEAN DEFAULT TRUE)
INSERT INTO n (i) VALUES (128)
INSERT INTO n (u) VALUES (256)
INSERT INTO n (s) VALUES (-32769)
INSERT INTO n (x) VALUES (999.999)
INSERT INTO n (x) VALUES (1000)
INSERT INTO n (v) VALUES ('abcd')
INSERT INTO n (i, u, s, b, f, d, x, v, c, t) VALUES (-128, 255, 1.5, 5, 1.1, 1e20, 1.005, 'abc', 'ab ', 'text')
SELECT * FROM n
SELECT 1e20, 1e-10, 123456789.123, 0.1 + 0.2e0, 1/7e0, 100000000000000000000, 1.0e15, 1e14
SELECT POW(2, 0.5), SQRT(2), RAND() < 1, EXP(1), LN(2), 10 / 3, 10 / 4.0, 1.10 + 2.205, 5 / 0.5
SELECT 'abc' + 1, '3 apples' * 2, '5' - '2', 1 + NULL, '1.5' + 1
SELECT 1 AND NULL, 1 OR NULL, NULL = NULL, NULL <> 1, NOT NULL, 5 > 'a', 'a' > 5, 'b' > 'A'
SELECT 'a' || 'b', 1 || 0, 0 || 0
SELECT CHAR(77,121), CONCAT('a', NULL), REPLACE('aaa', 'a', 'bb'), SUBSTRING('hello' FROM 2 FOR 3), LEFT('hello', 0), RIGHT('hello', 10), LPAD('hello', 3, '-'), TRIM(BOTH 'x' FROM 'xxhixx'), REVERSE('äb'), LOCATE('l', 'hello', 4), INSTR('Hello', 'l'), ELT(5, 'a'), FIELD(NULL, 'a')
SELECT ROUND(1.005, 2), ROUND(-1.5), ROUND(15, -1), TRUNCATE(-1.999, 1), CEIL(-1.5), FLOOR(1.999), ABS(-2.50), SIGN(0), MOD(-7, 3), GREATEST('a', 'b'), LEAST(3, 1.5)
SELECT DATE('2026-01-31') + INTERVAL 1 MONTH, LAST_DAY('2024-02-01'), DATE_ADD('2024-02-29', INTERVAL 1 YEAR), '2026-01-01 00:00:00' - INTERVAL 1 MICROSECOND, DATE_SUB('2026-03-31', INTERVAL 1 QUARTER)
SELECT CAST('abc' AS SIGNED), CAST('1.9' AS DECIMAL(3,1)), CAST(-1.5 AS SIGNED), CAST(1 AS DECIMAL(5,2)), CAST('2026-02-30' AS DATE), CAST(NULL AS CHAR), CAST(3.99 AS UNSIGNED), CONVERT('12', UNSIGNED) + 1
SELECT @x := 3, @y := @x * 2
SELECT @x + @y, @undefined, @x = 3
SELECT (SELECT 1), (SELECT COUNT(*) FROM orders) > 2
SELECT (SELECT 1, 2)
SELECT * FROM orders WHERE id = 1 UNION SELECT * FROM orders WHERE id = 2 ORDER BY id DESC
SELECT 1 AS a UNION SELECT 'x' ORDER BY a
SELECT id FROM orders UNION ALL SELECT id FROM orders ORDER BY id LIMIT 3
SELECT 1 INTERSECT SELECT 1
SELECT 1 EXCEPT SELECT 2
SELECT COUNT(*) FROM (SELECT DISTINCT customer_id FROM orders) d
SELECT o.total t, o.total * 2 t2 FROM orders o HAVING t2 > 20 ORDER BY t
SELECT total AS id FROM orders ORDER BY id
SELECT id FROM orders GROUP BY customer_id, id HAVING MAX(total) > 9 ORDER BY id
SELECT customer_id, id FROM orders WHERE id IN (SELECT MAX(id) FROM orders GROUP BY customer_id) ORDER BY 1
SELECT nosuch.id FROM orders
SELECT id FROM orders o, customers c WHERE o.customer_id = c.id
SELECT orders.id FROM orders o
SELECT * FROM orders WHERE
SELECT COUNT(id FROM orders
SELECT name, FROM customers
INSERT INTO orders customer_id VALUES (1)
DELETE orders WHERE id = 1
CREATE TABLE x (id INT, name)
CREATE TABLE x (id INT PRIMARY KEY, id2 INT PRIMARY KEY)
ALTER TABLE orders ADD COLUMN total INT
ALTER TABLE orders ADD INDEX (nope)
ALTER TABLE nope ADD COLUMN a INT
DROP INDEX nope ON orders
CREATE INDEX total ON orders (total)
CREATE INDEX total ON orders (total)
SELECT COUNT(*) FROM orders WHERE total > 5
DROP TABLE orders, customers, counters, n
DROP DATABASE shop
SELECT * FROM customers
CREATE DATABASE more
USE more
SELECT 'abc' REGEXP '^A', 'abc' NOT REGEXP 'b$', 'a\nb' RLIKE 'a.b', NULL REGEXP 'a'
SELECT REGEXP_REPLACE('one two three', '[a-z]+', '-'), REGEXP_SUBSTR('one two three', 't[a-z]+'), REGEXP_INSTR('one two', 'tw')
SELECT 0.1 + 0.2 = 0.3, 0.1 + 0.2, 1.1 * 1.1 = 1.21, 0.3 - 0.1 = 0.2
CREATE TABLE d (id INT PRIMARY KEY AUTO_INCREMENT, x DECIMAL(10,2) NOT NULL, y DECIMAL(10,1))
INSERT INTO d (x, y) VALUES (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (0.1, 0.1)
SELECT SUM(x), SUM(y), SUM(x) = 1, AVG(x), SUM(x + y) = 2, SUM(x * 3) = 3 FROM d
SELECT id, SUM(x) OVER (ORDER BY id) AS running, SUM(x) OVER (ORDER BY id) = 0.3 AS third FROM d WHERE id < 4
SELECT COUNT(*) FROM d WHERE x + y = 0.2
UPDATE d SET x = x + 0.2 WHERE id = 1
SELECT x, x = 0.3 FROM d WHERE id = 1
CREATE TABLE stock (item VARCHAR(10) PRIMARY KEY, amount INT NOT NULL, changed INT NOT NULL DEFAULT 0, UNIQUE KEY (amount))
INSERT INTO stock (item, amount) VALUES ('a', 1), ('b', 2)
INSERT INTO stock (item, amount) VALUES ('a', 5) ON DUPLICATE KEY UPDATE amount = VALUES(amount), changed = changed + 1
INSERT INTO stock (item, amount) VALUES ('a', 5) ON DUPLICATE KEY UPDATE amount = VALUES(amount)
INSERT INTO stock (item, amount) VALUES ('c', 5) ON DUPLICATE KEY UPDATE changed = 7
INSERT INTO stock (item, amount) VALUES ('d', 9), ('b', 3) ON DUPLICATE KEY UPDATE amount = stock.amount + VALUES(amount)
SELECT * FROM stock ORDER BY item
INSERT IGNORE INTO stock (item, amount) VALUES ('a', 1), ('e', 11), ('f', 11)
INSERT IGNORE INTO stock (item, amount) VALUES ('g', 'many')
REPLACE INTO stock (item, amount) VALUES ('a', 9)
SELECT * FROM stock ORDER BY item
SELECT item, ROW_NUMBER() OVER w n, SUM(amount) OVER w s, LAG(item, 1, '-') OVER w l, PERCENT_RANK() OVER w p FROM stock WINDOW w AS (ORDER BY amount DESC) ORDER BY n
WITH RECURSIVE days AS (SELECT DATE('2026-01-30') AS d UNION ALL SELECT d + INTERVAL 1 DAY FROM days WHERE d < '2026-02-02') SELECT d FROM days
WITH a AS (SELECT item, amount FROM stock WHERE amount > 5), b AS (SELECT COUNT(*) AS n FROM a) SELECT a.item, b.n FROM a CROSS JOIN b ORDER BY a.item
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM stock WHERE item = 'a'
EXPLAIN FORMAT=TRADITIONAL SELECT 1
EXPLAIN FORMAT=TRADITIONAL INSERT INTO stock (item, amount) VALUES ('z', 100)
SELECT JSON_EXTRACT('{"a": {"b": [1, 2, {"c": "x"}]}}', '$.a.b[2].c'), JSON_UNQUOTE(JSON_EXTRACT('{"a": "x"}', '$.a'))
SELECT JSON_OBJECT('a', 1, 'b', 'x'), JSON_ARRAY(1, 'a', NULL), JSON_VALID('{'), JSON_VALID('[1]')
SELECT JSON_SET('{"a": 1}', '$.b', 2), JSON_INSERT('{"a": 1}', '$.a', 2), JSON_REPLACE('{"a": 1}', '$.a', 'x'), JSON_REMOVE('{"a": 1, "b": 2}', '$.b')
SELECT JSON_LENGTH('[1, 2, 3]'), JSON_LENGTH('{"a": 1}'), JSON_LENGTH('5'), JSON_KEYS('{"b": 1, "a": 2}'), JSON_TYPE('[1]'), JSON_TYPE('"x"'), JSON_TYPE('1'), JSON_TYPE('null')
SELECT JSON_CONTAINS('[1, 2, {"a": 3}]', '2'), JSON_CONTAINS('{"a": 1, "b": 2}', '{"a": 1}'), JSON_CONTAINS('{"a": 1}', '1', '$.a'), JSON_CONTAINS_PATH('{"a": 1}', 'one', '$.a', '$.b')
SELECT JSON_EXTRACT('[1, {"a": 2}]', '$[1]'), JSON_EXTRACT('{"a": 1}', '$.b'), JSON_EXTRACT('[1, 2]', '$[0]', '$[1]')
CREATE TABLE docs (id INT PRIMARY KEY, doc JSON)
INSERT INTO docs VALUES (1, '{"name": "Ann", "tags": ["a", "b"]}'), (2, '{"name": "Bob"}')
SELECT id, doc->'$.name', doc->>'$.name', JSON_LENGTH(doc, '$.tags') FROM docs ORDER BY id
SELECT id FROM docs WHERE doc->>'$.name' = 'Bob'
CREATE TABLE parents (id INT PRIMARY KEY, name VARCHAR(10))
CREATE TABLE children (id INT PRIMARY KEY AUTO_INCREMENT, parent_id INT, FOREIGN KEY (parent_id) REFERENCES parents (id))
CREATE TABLE pets (id INT PRIMARY KEY, parent_id INT, CONSTRAINT owned FOREIGN KEY (parent_id) REFERENCES parents (id) ON DELETE CASCADE ON UPDATE CASCADE)
CREATE TABLE toys (id INT PRIMARY KEY, parent_id INT, CONSTRAINT lent FOREIGN KEY (parent_id) REFERENCES parents (id) ON DELETE SET NULL)
INSERT INTO parents VALUES (1, 'one'), (2, 'two'), (3, 'three')
INSERT INTO children (parent_id) VALUES (1), (NULL)
INSERT INTO children (parent_id) VALUES (9)
INSERT INTO pets VALUES (1, 2), (2, 2), (3, 3)
INSERT INTO toys VALUES (1, 2)
DELETE FROM parents WHERE id = 1
UPDATE parents SET id = 7 WHERE id = 1
UPDATE children SET parent_id = 8 WHERE id = 1
DELETE FROM parents WHERE id = 2
SELECT * FROM pets
SELECT * FROM toys
UPDATE parents SET id = 30 WHERE id = 3
SELECT * FROM pets
DROP TABLE parents
ALTER TABLE children DROP FOREIGN KEY children_ibfk_1
INSERT INTO children (id, parent_id) VALUES (30, 9)
INSERT IGNORE INTO pets VALUES (9, 99)
SELECT * FROM pets
DROP DATABASE more
