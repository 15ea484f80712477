-- Missed ticks of one schedule that nobody has been told of are one notice.

create unique index notice_missed on workron.notice (schedule) where kind = 'missed';
