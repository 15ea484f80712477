-- An edge is written once and closed once: with room for that on its page, closing it touches no index. Half of each page,
-- as the edges that lie together are those of neighbours, which are closed together.
alter table workron.edge set (fillfactor = 50);
