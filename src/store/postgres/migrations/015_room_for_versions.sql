-- A live row is written at its submission, when it is freed, and when it is claimed, and each time its key gets another entry.
-- With room for them on its page of the index, that splits no page: less work for a claim, and for an end that frees others.
alter index workron.live_pkey set (fillfactor = 50);
