-- For people who look for jobs: by name, by queue, and, where there are any, by tags. The claim reads none of these.
create index job_name on job (name, id) where name is not null;
create index job_queue on job (queue, id);
create index job_tagged on job (id) where tags <> '[]';
