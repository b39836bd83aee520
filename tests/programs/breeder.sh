# Leaves children of every kind behind: in its group, in a session of its own, twice forked,
# without its environment. usage: breeder.sh stay|leave
sleep 611 &
setsid sleep 612 &
(setsid sh -c 'sleep 613 & sleep 614' &)
(exec setsid env -i /bin/sleep 615 &)
sh -c 'trap "" TERM HUP INT; exec sleep 616' &
sleep 0.2
echo bred
[ "$1" = stay ] && exec sleep 617
exit 0
