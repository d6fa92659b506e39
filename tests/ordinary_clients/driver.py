"""PyMySQL against a simulated server: what a program does that knows nothing of simulations.

Called with one JSON object: port, user, password, ca (a file, or null for no TLS), version, and "long": whether to send
and fetch what is longer than one frame of the protocol. Ends with a traceback at the first surprise.
"""

import datetime
import decimal
import json
import ssl
import sys

import pymysql
from pymysql.constants import CLIENT, SERVER_STATUS

told = json.loads(sys.argv[1])


def connect(**more):
    settings = {
        "host": "127.0.0.1",
        "port": told["port"],
        "user": told["user"],
        "password": told["password"],
        "connect_timeout": 10,
        "read_timeout": 60,
    }
    if told["ca"]:
        settings["ssl"] = ssl.create_default_context(cafile=told["ca"])
    else:
        settings["ssl_disabled"] = True
    return pymysql.connect(**{**settings, **more})


def rows(connection, sql, arguments=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        return cursor.fetchall()


def refused(kind, code, act):
    try:
        act()
    except pymysql.MySQLError as error:
        assert type(error) is kind and error.args[0] == code, (code, repr(error))
        return
    raise AssertionError(f"{code} was not raised")


def logs_in():
    connection = connect(database="shop")
    assert connection.get_server_info() == told["version"], connection.get_server_info()
    ((database, user),) = rows(connection, "SELECT DATABASE(), CURRENT_USER()")
    assert (database, user) == ("shop", "admin@%"), (database, user)
    ((_, cipher),) = rows(connection, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
    assert bool(cipher) == bool(told["ca"]), cipher
    connection.ping(reconnect=False)
    connection.select_db("replicascope")
    connection.close()


def is_refused():
    error = pymysql.err.OperationalError
    refused(error, 1045, lambda: connect(password="wrong"))
    refused(error, 1045, lambda: connect(password=""))
    refused(error, 1045, lambda: connect(user="nobody"))
    refused(error, 1049, lambda: connect(database="nowhere"))


def hears_of_errors():
    connection = connect()
    wrong = pymysql.err.ProgrammingError
    for kind, code, sql in [
        (wrong, 1064, "SELEC 1"),
        (wrong, 1064, "SELECT FROM WHERE"),
        (wrong, 1146, "SELECT * FROM shop.nowhere"),
        (pymysql.err.OperationalError, 1054, "SELECT nothing FROM shop.orders"),
        (pymysql.err.OperationalError, 1049, "USE nowhere"),
        (
            pymysql.err.IntegrityError,
            1062,
            "INSERT INTO shop.orders (id, customer, address, status, amount) VALUES (1, 1, '', '', 1)",
        ),
    ]:
        refused(kind, code, lambda: rows(connection, sql))
    assert rows(connection, "SELECT 1") == ((1,),)


def reads_values_as_their_types():
    connection = connect()
    given = (1, -2.5, "it's a \\ 北京", None, decimal.Decimal("12.50"))
    (row,) = rows(connection, "SELECT %s, %s, %s, %s, %s", given)
    assert row[0] == 1 and float(row[1]) == -2.5 and row[2:4] == given[2:4] and row[4] == given[4], row
    ((id, amount, created),) = rows(connection, "SELECT id, amount, created_at FROM shop.orders WHERE id = 7")
    assert type(id) is int and type(amount) is decimal.Decimal, (id, amount)
    assert type(created) is datetime.datetime and created.microsecond, created
    with connect(cursorclass=pymysql.cursors.SSDictCursor).cursor() as cursor:
        cursor.execute("SELECT id FROM shop.orders WHERE id <= 500 ORDER BY id")
        assert [row["id"] for row in cursor] == list(range(1, 501))


def writes_and_takes_back():
    connection = connect()
    insert = "INSERT INTO shop.orders (customer, address, status, amount) VALUES (%s, %s, %s, %s)"
    with connection.cursor() as cursor:
        cursor.executemany(insert, [(customer, "here", "new", "1.50") for customer in range(50)])
        assert cursor.rowcount == 50, cursor.rowcount
        first = cursor.lastrowid
        assert connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS
        connection.rollback()
        assert not connection.server_status & SERVER_STATUS.SERVER_STATUS_IN_TRANS
        cursor.execute("SELECT COUNT(*) FROM shop.orders WHERE id >= %s AND address = 'here'", (first,))
        assert cursor.fetchall() == ((0,),)
        cursor.execute(insert, (1, "there", "new", "2.50"))
        connection.commit()
        id = cursor.lastrowid
    assert rows(connect(), "SELECT address FROM shop.orders WHERE id = %s", (id,)) == (("there",),)


def says_several_statements_at_once():
    connection = connect(client_flag=CLIENT.MULTI_STATEMENTS)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1; SET @a = ';'; SELECT @a; SELECT * FROM shop.nowhere; SELECT 4")
        results = [cursor.fetchall()]
        try:
            while cursor.nextset():
                results.append(cursor.fetchall())
        except pymysql.err.ProgrammingError as error:
            results.append(error.args[0])
    assert [list(result) if result != 1146 else result for result in results] == [[(1,)], [], [(";",)], 1146], results
    refused(pymysql.err.ProgrammingError, 1064, lambda: rows(connect(), "SELECT 1; SELECT 2"))


def prepares_by_statement():
    connection = connect(autocommit=True)
    rows(connection, "PREPARE nth FROM 'SELECT id + ? FROM shop.orders WHERE id IN (?, ?) ORDER BY id'")
    rows(connection, "SET @more = 100, @one = 3, @other = '5'")
    assert rows(connection, "EXECUTE nth USING @more, @one, @other") == ((103,), (105,))
    refused(pymysql.err.OperationalError, 1210, lambda: rows(connection, "EXECUTE nth USING @more"))
    rows(connection, "DEALLOCATE PREPARE nth")
    refused(pymysql.err.OperationalError, 1243, lambda: rows(connection, "EXECUTE nth USING @more"))
    rows(connection, "SET @sql = 'UPDATE shop.orders SET status = ? WHERE id = 9', @to = 'it''s paid'")
    rows(connection, "PREPARE pay FROM @sql")
    rows(connection, "EXECUTE pay USING @to")
    assert rows(connection, "SELECT status FROM shop.orders WHERE id = 9") == (("it's paid",),)


def sends_and_fetches_what_is_longer_than_a_frame():
    limit = 32 << 20
    rows(connect(), f"SET GLOBAL max_allowed_packet = {limit}")
    connection = connect(max_allowed_packet=2 * limit)
    text = "0123456789abcdef" * (1 << 20) + "end"
    assert rows(connection, "SELECT %s", (text,)) == ((text,),)
    refused(
        pymysql.err.OperationalError,
        1153,
        lambda: rows(connection, "SELECT LENGTH(%s)", ("x" * (limit + 1),)),
    )


logs_in()
is_refused()
hears_of_errors()
reads_values_as_their_types()
writes_and_takes_back()
says_several_statements_at_once()
prepares_by_statement()
if told["long"]:
    sends_and_fetches_what_is_longer_than_a_frame()
