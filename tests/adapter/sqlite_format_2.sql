-- Distributed under the Boost Software License, Version 1.0.
-- (See accompanying file LICENSE or copy at https://www.boost.org/LICENSE_1_0.txt)
--
-- A journal of format 2 as it was first written: the record that testing::full_record makes, and
-- one bound name. Text with bytes that are no text is written as its bytes. Never change it: later
-- versions must read it as it is.
PRAGMA application_id = 1231963234;
PRAGMA user_version = 2;
BEGIN;
CREATE TABLE meta (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    journal TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    high_water_ms INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    device INTEGER NOT NULL,
    born_ns INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES(1,'00112233445566778899aabbccddeeff',41,1700000000001,1,1,1);
CREATE TABLE operations (
    operation INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    version_epoch INTEGER NOT NULL,
    version_counter INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'uncertain', 'confirmed', 'rejected',
                                         'cancelled', 'in_review', 'abandoned')),
    basis TEXT NOT NULL,
    concern TEXT NOT NULL,
    reason INTEGER NOT NULL,
    came_from TEXT NOT NULL,
    ever_confirmed INTEGER NOT NULL,
    cancel_requested INTEGER NOT NULL,
    clean_up_due INTEGER NOT NULL,
    restored INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    extra_attempts INTEGER NOT NULL,
    claim_epoch INTEGER NOT NULL,
    claim_holder INTEGER NOT NULL,
    begun_at_ms INTEGER NOT NULL,
    written_at_ms INTEGER NOT NULL,
    deadline_ms INTEGER,
    confirmed_at_ms INTEGER NOT NULL,
    next_check_ms INTEGER NOT NULL,
    provider_key TEXT NOT NULL,
    receipt TEXT NOT NULL,
    hints TEXT NOT NULL,
    target_id TEXT NOT NULL,
    remarks TEXT NOT NULL,
    review_owner TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    decisions INTEGER NOT NULL,
    hook_due INTEGER NOT NULL DEFAULT 0,
    tombstone INTEGER NOT NULL DEFAULT 0,
    former_keys INTEGER NOT NULL DEFAULT 0,
    set_aside INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, key)
) STRICT;
INSERT INTO operations VALUES(7,'scope','key',41,9,'in_review','person','effect_missing',54,
    'confirmed',1,1,1,1,4294967295,4294967294,4294967293,-1,-1,1700000000001,1700000000002,
    1700000000003,-9223372036854775808,
    CAST(X'70726f7669646572206b6579002722250a0d095c80c300' AS TEXT),
    CAST(X'72656365697074002722250a0d095c80c300' AS TEXT),
    CAST(X'68696e7473002722250a0d095c80c300' AS TEXT),
    CAST(X'746172676574206964002722250a0d095c80c300' AS TEXT),
    CAST(X'72656d61726b73002722250a0d095c80c300' AS TEXT),
    CAST(X'6f776e6572002722250a0d095c80c300' AS TEXT),3,2,1,1,3,2);
CREATE TABLE intents (
    operation INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    request BLOB NOT NULL,
    fingerprint BLOB NOT NULL,
    fingerprint_rule TEXT NOT NULL
) STRICT;
INSERT INTO intents VALUES(7,
    CAST(X'746172676574002722250a0d095c80c300' AS TEXT),X'72657175657374002722250a0d095c80c300',
    X'66696e6765727072696e74002722250a0d095c80c300',
    CAST(X'72756c65002722250a0d095c80c300' AS TEXT));
CREATE TABLE attempts (
    operation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sent_at_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    generation INTEGER NOT NULL,
    guarantee TEXT NOT NULL,
    lasts_ms INTEGER,
    arrives_within_ms INTEGER NOT NULL,
    domain INTEGER NOT NULL,
    PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;
INSERT INTO attempts VALUES(7,1,1,'not_sent',1,'none',0,0,0);
INSERT INTO attempts VALUES(7,2,1700000000123,'applied',2,'by_key',86400000,600000,-1);
INSERT INTO attempts VALUES(7,3,9223372036854775807,'declared_not_applied',4294967295,'by_state',
    NULL,1,1);
CREATE TABLE decisions (
    operation INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    what TEXT NOT NULL,
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    id TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (operation, number)
) STRICT, WITHOUT ROWID;
INSERT INTO decisions VALUES(7,1,5,'rule out','ann','asked them','');
INSERT INTO decisions VALUES(7,2,9223372036854775807,
    CAST(X'77686174002722250a0d095c80c300' AS TEXT),
    CAST(X'77686f002722250a0d095c80c300' AS TEXT),
    CAST(X'776879002722250a0d095c80c300' AS TEXT),
    CAST(X'6964002722250a0d095c80c300' AS TEXT));
CREATE TABLE notes (
    operation INTEGER NOT NULL,
    kind TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (operation, kind, number)
) STRICT, WITHOUT ROWID;
INSERT INTO notes VALUES(7,'former_key',1,'the first key');
INSERT INTO notes VALUES(7,'former_key',2,
    CAST(X'746865207365636f6e64206b6579002722250a0d095c80c300' AS TEXT));
INSERT INTO notes VALUES(7,'former_key',3,'');
INSERT INTO notes VALUES(7,'set_aside',1,
    CAST(X'612072656365697074002722250a0d095c80c300' AS TEXT));
INSERT INTO notes VALUES(7,'set_aside',2,'another receipt');
CREATE TABLE names (
    name BLOB PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO names VALUES(X'61006e616d65','scope','key');
CREATE TABLE reasons (
    reason INTEGER PRIMARY KEY,
    sentence TEXT NOT NULL
) STRICT;
INSERT INTO reasons VALUES(54,'the previously confirmed effect is absent');
CREATE INDEX unsettled_operations ON operations (operation)
    WHERE state IN ('pending', 'uncertain', 'in_review') OR hook_due = 1;
CREATE INDEX shrinkable_operations ON operations (written_at_ms)
    WHERE state IN ('confirmed', 'rejected', 'cancelled')
    AND hook_due = 0 AND clean_up_due = 0 AND tombstone = 0;
COMMIT;
