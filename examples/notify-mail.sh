#!/bin/sh
# Sends a notification by mail, with curl:
#
#   workron up --notify 'failed,recovered=/path/to/notify-mail.sh smtp://mail.example.com:587 workron@example.com ops@example.com'
#
# smtp:// needs STARTTLS, smtps:// is TLS from the start, smtp+plain:// is for a relay on this machine. User and password are in
# ~/.netrc of the worker's user (machine mail.example.com login … password …), other options of curl in its ~/.curlrc.
# A failure ends with curl's exit code, and Workron tries again.
set -eu
url=$1 from=$2 to=$3

tls=--ssl-reqd
case $url in smtp+plain://*) url=smtp://${url#smtp+plain://} tls= ;; esac

# Headers are plain ASCII in one line, whatever a job prints. The body has the whole text.
subject=$(printf '%s' "$WORKRON_NOTIFY_TEXT" | LC_ALL=C tr -cd '\040-\176' | cut -c 1-200)
# The same in every attempt, so that mail programs show a message once.
id=$(printf '%s' "$WORKRON_NOTIFY_JSON" | sed 's/^{"id":"\([0-9A-Za-z-]*\)".*/\1/')

{
  printf 'From: %s\r\nTo: %s\r\nSubject: %s\r\n' "$from" "$to" "$subject"
  printf 'Date: %s\r\nMessage-ID: <%s.%s.%s>\r\n' "$(LC_ALL=C date '+%a, %d %b %Y %H:%M:%S %z')" "$id" "$WORKRON_NOTIFY_EVENT" "$from"
  printf 'Auto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n'
  printf 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n'
  {
    printf '%s\n' "$WORKRON_NOTIFY_TEXT"
    if [ -n "${WORKRON_NOTIFY_LINK-}" ]; then printf '\n%s\n' "$WORKRON_NOTIFY_LINK"; fi
    if [ -n "${WORKRON_NOTIFY_ERROR-}" ]; then printf '\n%s\n' "$WORKRON_NOTIFY_ERROR"; fi
  } | base64 | sed 's/$/\r/'
} | curl --silent --show-error --max-time 50 --netrc-optional $tls --url "$url" \
  --mail-from "$from" --mail-rcpt "$to" --upload-file -
