-- What a simulated MariaDB answers otherwise than a real one.

-- MariaDB does not know these words; a simulated one refuses the first with a text of its own, and takes the others.
INSERT INTO orders (id, customer, address, amount) VALUES (1, 9, 'dup', 1) AS n ON DUPLICATE KEY UPDATE amount = n.amount
SELECT id, total, SUM(total) OVER (ORDER BY id) run, AVG(total) OVER (PARTITION BY customer_id) a, FIRST_VALUE(total) OVER (ORDER BY id DESC) f, NTILE(2) OVER (ORDER BY id) nt, DENSE_RANK() OVER (ORDER BY customer_id) dr, LEAD(total, 1, 0) OVER (ORDER BY id) nx FROM orders ORDER BY id
SELECT item, ROW_NUMBER() OVER w n, SUM(amount) OVER w s, LAG(item, 1, '-') OVER w l, PERCENT_RANK() OVER w p FROM stock WINDOW w AS (ORDER BY amount DESC) ORDER BY n
SELECT id, doc->'$.name', doc->>'$.name', JSON_LENGTH(doc, '$.tags') FROM docs ORDER BY id
SELECT id FROM docs WHERE doc->>'$.name' = 'Bob'
-- Refused by both, in other words.
SELECT * FROM (SELECT 1)
-- Its usual collation pays no heed to blanks at the end.
SELECT id FROM t WHERE c = 'abc ' AND id=1
-- Its usual character set takes one byte for a character.
EXPLAIN FORMAT=TRADITIONAL SELECT * FROM stock WHERE item = 'a'
-- It leaves the keys of a document in the order in which they were written.
SELECT JSON_LENGTH('[1, 2, 3]'), JSON_LENGTH('{"a": 1}'), JSON_LENGTH('5'), JSON_KEYS('{"b": 1, "a": 2}'), JSON_TYPE('[1]'), JSON_TYPE('"x"'), JSON_TYPE('1'), JSON_TYPE('null')
