-- What a role of the database may see, where roles are mapped to people (store/roles.py). Run again, it replaces itself.
-- In braces stand the workspace's schema, and the condition of the entries (contribution) that may be seen.
-- Functions run as the owner of the tables, for whoever is connected (session_user).

CREATE OR REPLACE VIEW rolenow AS
SELECT DISTINCT ON (role) role, person, coordinator, at FROM roleentry WHERE kind = 'mapped' ORDER BY role, id DESC;

CREATE OR REPLACE FUNCTION cuecard_person() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT nullif(person, '') FROM rolenow WHERE role = session_user::text
$$;

CREATE OR REPLACE FUNCTION cuecard_sees_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT NOT EXISTS (SELECT FROM rolenow WHERE person <> '')
        OR EXISTS (SELECT FROM rolenow WHERE role = session_user::text AND person <> '' AND coordinator)
        OR pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'roleentry'::regclass), 'MEMBER')
$$;

CREATE OR REPLACE FUNCTION cuecard_wrote(who text) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT task_id FROM revision WHERE author = who
    UNION SELECT r.task_id FROM revision r JOIN cosign c ON c.uid = r.uid WHERE c.author = who
$$;

-- As authors_until in core/review.py.
CREATE OR REPLACE FUNCTION cuecard_authors(task text, revision integer) RETURNS SETOF text
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    WITH RECURSIVE line AS (
        SELECT r.uid, r.parents, r.author FROM revision r WHERE r.task_id = task AND r.number = cuecard_authors.revision
        UNION
        SELECT r.uid, r.parents, r.author FROM revision r JOIN line ON r.task_id = task AND line.parents::jsonb ? r.uid
    )
    SELECT author FROM line UNION SELECT c.author FROM cosign c JOIN line ON line.uid = c.uid
$$;

-- The reviews that count, as _Fold in core/review.py takes them: each person's first, unless they wrote the task.
CREATE OR REPLACE VIEW countedreview AS
SELECT DISTINCT ON (c.task_id, c.revision, c.by) c.task_id, c.revision, c.by, c.uid, c.about
FROM contribution c
WHERE c.kind = 'reviewed' AND CASE
    WHEN EXISTS (
        SELECT FROM revision r LEFT JOIN cosign g ON g.uid = r.uid
        WHERE r.task_id = c.task_id AND c.by IN (r.author, g.author))
    THEN c.by NOT IN (SELECT cuecard_authors(c.task_id, c.revision)) ELSE true END
ORDER BY c.task_id, c.revision, c.by, c.tick, c.at, c.uid;

-- As reviews_open_to in store/contributions.py, of the entries themselves: whoever may write standings could forge them.
CREATE OR REPLACE FUNCTION cuecard_open_reviews() RETURNS TABLE (task_id varchar, revision integer)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT r.task_id, r.revision FROM countedreview r GROUP BY r.task_id, r.revision
    HAVING count(*) > 2 OR count(*) = 2 AND (
        count(DISTINCT r.about) = 1
        OR bool_or(r.by = (SELECT cuecard_person()))
        OR r.task_id IN (SELECT cuecard_wrote((SELECT cuecard_person()))))
$$;

CREATE OR REPLACE FUNCTION cuecard_blind_tasks() RETURNS SETOF varchar
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT r.task_id FROM countedreview r
    WHERE r.by IS DISTINCT FROM (SELECT cuecard_person())
    AND (r.task_id, r.revision) NOT IN (SELECT o.task_id, o.revision FROM cuecard_open_reviews() o)
$$;

CREATE OR REPLACE FUNCTION cuecard_built() RETURNS TABLE (task_id varchar, revision integer)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT c.task_id, c.revision FROM contribution c
    WHERE c.kind = 'gold_built' AND c.by = (SELECT cuecard_person())
$$;

CREATE OR REPLACE FUNCTION cuecard_commented() RETURNS SETOF varchar
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    SELECT c.uid FROM contribution c
    WHERE c.kind = 'commented' OR c.kind = 'reviewed' AND (
        c.by = (SELECT cuecard_person())
        OR (c.task_id, c.revision) IN (SELECT o.task_id, o.revision FROM cuecard_open_reviews() o))
$$;

-- Each run of which others are copies (rescored or replayed, and so on from those), with itself and its copies.
CREATE OR REPLACE VIEW copiedrun AS
WITH RECURSIVE planned AS (
    SELECT id, CASE
        WHEN strpos(plan, '"rescored"') > 0 AND strpos(plan, '"rescored":""') = 0
        OR strpos(plan, '"replay"') > 0 AND strpos(plan, '"replay":null') = 0 THEN plan::jsonb END AS plan
    FROM run WHERE kind = 'grid'
), copied AS (
    SELECT p.id AS run, o.id AS origin
    FROM planned p JOIN run o ON o.uid = p.plan ->> 'rescored' OR to_jsonb(o.id) = p.plan -> 'replay'
), line AS (
    SELECT run, origin FROM copied
    UNION SELECT l.run, c.origin FROM line l JOIN copied c ON c.run = l.origin
)
SELECT origin, run FROM line WHERE origin NOT IN (SELECT run FROM line) UNION SELECT origin, origin FROM line;

-- Who may change a plan could else say that a run is no copy. What is no JSON is refused, too.
CREATE OR REPLACE FUNCTION cuecard_keep_origin() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (coalesce(OLD.plan::jsonb ->> 'rescored', ''), OLD.plan::jsonb ->> 'replay')
        IS DISTINCT FROM (coalesce(NEW.plan::jsonb ->> 'rescored', ''), NEW.plan::jsonb ->> 'replay')
    THEN RAISE EXCEPTION 'run: what it is a copy of never changes';
    END IF;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER cuecard_keep_origin BEFORE UPDATE OF plan ON run FOR EACH ROW EXECUTE FUNCTION cuecard_keep_origin();

-- The items of labelling sets that the person is still to label, as waits_for in store/contributions.py, and the same items
-- of copies of their trials, as _of_copies in store/label_sets.py.
CREATE OR REPLACE FUNCTION cuecard_waiting() RETURNS TABLE (trial_id integer, item_key text)
LANGUAGE sql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, {schema}, pg_temp AS $$
    WITH waiting AS MATERIALIZED (
        SELECT DISTINCT s.trial_id, s.item_key FROM setitem s CROSS JOIN (SELECT cuecard_person() AS name) me
        WHERE NOT cuecard_sees_all()
        AND NOT EXISTS (
            SELECT FROM label l WHERE l.trial_id = s.trial_id AND l.item_key = s.item_key AND l.person = me.name)
        AND CASE s.people WHEN '[]' THEN s.raters > (
            SELECT count(DISTINCT l.person) FROM label l WHERE l.trial_id = s.trial_id AND l.item_key = s.item_key)
            ELSE coalesce(s.people::jsonb ? me.name, true) END)
    SELECT w.trial_id, w.item_key FROM waiting w
    UNION
    SELECT other.id, w.item_key FROM waiting w JOIN trial t ON t.id = w.trial_id
    JOIN copiedrun mine ON mine.run = t.run_id JOIN copiedrun theirs ON theirs.origin = mine.origin
    JOIN trial other ON other.run_id = theirs.run AND (other.task_id, other.agent, other."user", other.world, other.sample, other.seed)
        = (t.task_id, t.agent, t."user", t.world, t.sample, t.seed)
$$;

-- How many people labelled an item, which everybody may know.
CREATE OR REPLACE VIEW labelledcount AS
SELECT trial_id, item_key, count(DISTINCT person) AS people FROM label GROUP BY trial_id, item_key;

-- Sets as whoever is to label them may see them: strata may be named after decisions.
CREATE OR REPLACE VIEW setitemlog WITH (security_barrier) AS
SELECT s.set_id, s.position, s.trial_id, s.item_key, s.raters, s.people,
    CASE WHEN hidden THEN '' ELSE s.stratum END AS stratum, CASE WHEN hidden THEN 1 ELSE s.probability END AS probability
FROM (
    SELECT *, (trial_id, item_key) IN (SELECT w.trial_id, w.item_key FROM cuecard_waiting() w) AS hidden FROM setitem
) s;

-- What the state of a task is folded from. Of what must not be seen it holds who and what only as far as the state, which
-- everybody sees, tells anyway: names and uids are made up anew for each query; of two reviews that disagree, any one returns.
CREATE OR REPLACE VIEW contributionlog WITH (security_barrier) AS
SELECT uid, task_id, revision, kind, by, about, at, tick, body, packed FROM contribution WHERE {seen}
UNION ALL
SELECT * FROM (
    WITH made AS MATERIALIZED (SELECT gen_random_uuid()::text AS up),
    hidden AS (
        SELECT c.*, '~' || left(md5(c.by || made.up), 12) AS who, '~' || left(md5(c.about || made.up), 12) AS whom,
            md5(c.uid || made.up) AS name
        FROM contribution c, made
        WHERE c.kind IN ('reviewed', 'third_asked', 'claimed', 'released') AND ({seen}) IS NOT TRUE)
    SELECT name AS uid, task_id, revision, kind, CASE kind WHEN 'third_asked' THEN by ELSE who END AS by,
        CASE WHEN kind IN ('claimed', 'released') THEN whom ELSE '' END AS about, at, tick,
        CASE kind
            WHEN 'reviewed' THEN jsonb_build_object('kind', kind, 'ratings', '{}'::jsonb, 'decision',
                CASE WHEN uid = (
                    SELECT max(r.uid) FROM countedreview r WHERE r.task_id = h.task_id AND r.revision = h.revision
                    HAVING count(*) = 2 AND count(DISTINCT r.about) = 2)
                THEN 'return' ELSE 'approve' END)
            WHEN 'third_asked' THEN jsonb_build_object('kind', kind, 'reason', '–')
            WHEN 'claimed' THEN jsonb_build_object('kind', kind, 'person', whom, 'until', body::jsonb -> 'until')
            ELSE jsonb_build_object('kind', kind, 'person', whom, 'reason', '–')
        END::text AS body, NULL::bytea AS packed
    FROM hidden h WHERE kind <> 'reviewed' OR EXISTS (
        SELECT FROM countedreview r WHERE r.task_id = h.task_id AND r.revision = h.revision AND r.uid = h.uid)
) AS masked WHERE NOT (SELECT cuecard_sees_all());
