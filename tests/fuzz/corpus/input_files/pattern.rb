A pattern                                                               pat     
             2             1             1             0
pua                          2             2             3             0
(4I3)           (6I2)           
  1  3  4
 1 2 2
