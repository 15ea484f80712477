-- For people who look for jobs: by name, by queue, and, where there are any, by tags. The claim reads none of these.
create index job_name on workron.job (name, id) where name is not null;
create index job_queue on workron.job (queue, id);
create index job_tagged on workron.job (id) where tags <> '{}';
